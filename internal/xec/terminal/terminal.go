// Package terminal gives a program a terminal of its own, which shows what it prints in the terminal of
// a person, and receives what the person types there.
//
// [Of] returns the terminal of a person who runs this process in the foreground. [Person.Open] makes a
// pseudo-terminal for one program. [Terminal.Serve] copies between the two until [Terminal.Close]:
//
//   - the person's terminal passes every key on, and the program's terminal decides what each one means,
//     so Ctrl+C reaches the programs that it would reach without this package;
//   - where Ctrl+C interrupts programs that read lines, the caller learns of it, too. A program that
//     reads single keys, such as an editor or a prompt with a history, decides about Ctrl+C itself;
//   - Ctrl+Z suspends this process, as the person's shell expects, and never the program. In the
//     background, this process leaves the person's terminal alone;
//   - the program's terminal begins with the size and the settings of the person's, and follows its size;
//   - Close returns the person's terminal to its settings. If this process is killed, [Restore] does that
//     in another one.
//
// On Windows, Of returns nil.
package terminal

import (
	"io"
	"os"
)

// Person is the terminal of a person: what they type, and what they see.
type Person struct{ in, out *os.File }

// Of returns the terminal of the person who started this process, if both streams are terminals and the
// process is in the foreground of its terminal; otherwise nil.
func Of(stdin io.Reader, stdout io.Writer) *Person {
	in, typed := stdin.(*os.File)
	out, seen := stdout.(*os.File)
	if !typed || !seen || in == nil || out == nil || !usable(in, out) {
		return nil
	}
	return &Person{in, out}
}

// In returns the file from which the person's keys come.
func (p *Person) In() *os.File { return p.in }
