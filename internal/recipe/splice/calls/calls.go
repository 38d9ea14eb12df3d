// Package calls reads the arguments of commands: which of them is the program of an interpreter and where it
// comes from, and where a value is only data.
package calls

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/copse-dev/copse/internal/recipe/splice/programs"
	"github.com/copse-dev/copse/internal/recipe/splice/words"
)

// fromOption reports whether a word has the option -c of a shell.
func fromOption(w *syntax.Word) bool {
	text, _ := words.Text(w)
	return strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Contains(text, "c")
}

// fromInput reports whether a word has the option -s of a shell.
func fromInput(w *syntax.Word) bool {
	text, _ := words.Text(w)
	return strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Contains(text, "s")
}

// withoutCommand returns the arguments without the command of deno or bun that runs a program.
func withoutCommand(base string, args []*syntax.Word) []*syntax.Word {
	if (base == "deno" || base == "bun") && len(args) > 0 {
		if name, _ := words.Text(args[0]); slices.Contains([]string{"run", "eval", "exec", "x", "serve"}, name) {
			return args[1:]
		}
	}
	return args
}

// Call is what the arguments of an interpreter mean.
type Call struct {
	Programs []string // the program, or its files
	Constant bool
	Inline   bool           // the text of the program is among the arguments
	Reads    bool           // the program comes from the input
	Rest     []*syntax.Word // the arguments for the program

	rest int // the index of the first of them
}

// Read returns the meaning of the arguments of an interpreter.
func Read(base string, args []*syntax.Word) Call {
	args = withoutCommand(base, args)
	c := meaning(programs.Known(base), args)
	c.Rest = args[c.rest:]
	c.Inline = c.Inline || base == "sh" && slices.ContainsFunc(args[:c.rest], fromOption)
	c.Reads = !c.Constant || base == "sh" && slices.ContainsFunc(args, fromInput) || slices.ContainsFunc(c.Programs, isInput)
	return c
}

// isInput reports whether the name of a program's file is, or can be, that of the input.
func isInput(file string) bool {
	return file == "-" || strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/")
}

// meaning returns the meaning of the arguments of an interpreter. A program that comes from the input is
// not a constant, unless a word such as - says so.
func meaning(o programs.Options, args []*syntax.Word) (c Call) {
	var found programs.Meaning // of the options together
	others := false            // the words that are neither options nor the program have begun
	for i := 0; i < len(args); i++ {
		text, literal := words.Text(args[i])
		isOption := literal && len(text) > 1 && (text[0] == '-' || text[0] == '+' && o.Plus())
		switch {
		case !literal && o.IsData(words.Lead(args[i])):
		case !literal && strings.HasPrefix(words.Lead(args[i]), "-") && (!others || o.Anywhere):
			return c // an option with a value attached
		case isOption && (!others || o.Anywhere):
			read, values, known := option(o, args[i:], others)
			if !known {
				return c
			}
			c.Programs = append(c.Programs, texts(read, values)...)
			c.Inline = c.Inline || read.Program && !read.File
			i += read.Words
			found.Program, found.Opens, found.Doubt = found.Program || read.Program, found.Opens || read.Opens, read.Doubt
			others = read.Program && o.Ends
			c.rest = i + 1
		case others:
		case found.Program:
			others = true // this is one
		case !literal:
			return c
		case o.Anywhere && (text == "" || text[0] == '.'): // the suffix of sed -i on BSD and macOS
		case found.Doubt:
			found.Doubt = false
			c.Programs = append(c.Programs, text)
			c.rest = i + 1
		default:
			found.Program, others = true, true
			c.Programs = append(c.Programs, text)
			c.Inline = o.Text
			c.rest = i + 1
		}
		if others && found.Opens && words.Variable(args[min(i, len(args)-1)]) {
			return c
		}
	}
	c.rest = min(c.rest, len(args))
	c.Constant = found.Program
	return c
}

// option returns the meaning of the option that arguments begin with, and its values. Without known, one
// of them can be a program that is not a constant.
func option(o programs.Options, args []*syntax.Word, others bool) (read programs.Meaning, values []*syntax.Word, known bool) {
	text, _ := words.Text(args[0])
	read = o.Read(text)
	n := read.Words
	if others && read.Doubt {
		n = max(n, 1)
	}
	values = args[1:min(1+n, len(args))]
	read.Opens = read.Opens || o.Opens != "" && slices.ContainsFunc(values, opens)
	return read, values, o.IsData(text) || !slices.ContainsFunc(values, words.Variable)
}

// opens reports whether the text of a program reads the files that its arguments name with <>, which
// runs commands in Perl; <<>> does not.
func opens(w *syntax.Word) bool {
	text, _ := words.Text(w)
	return strings.Contains(strings.ReplaceAll(text, "<<>>", ""), "<>")
}

// texts returns the program, or its file, if an option has one, with the values after it.
func texts(m programs.Meaning, values []*syntax.Word) []string {
	if !m.Program {
		return nil
	}
	all := []string{m.Attached}
	for _, w := range values {
		text, _ := words.Text(w)
		all = append(all, text)
	}
	return all
}

// Copies reports whether a command, or one that it runs, writes files that its arguments name.
func Copies(args []*syntax.Word) bool {
	name, _ := words.Text(args[0])
	if programs.External(path.Base(name)) {
		name = Command(programs.Lookup(path.Base(name), ""), args[1:])
	}
	return slices.Contains([]string{"tee", "sponge", "dd", "cp", "mv", "ln", "install", "sort"}, path.Base(name))
}
