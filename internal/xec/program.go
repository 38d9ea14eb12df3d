package xec

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// program is what the system starts for a command.
type program struct {
	path string
	argv []string // with the name of the program
	env  Env
}

// program looks up the program of c. Its error names the program.
func (c Command) program() (program, error) {
	path, err := c.Env.LookPath(c.Name)
	if err != nil {
		return program{}, fmt.Errorf("run %s: %w", c.Name, err)
	}
	p, err := c.at(path, runtime.GOOS)
	if err != nil {
		return program{}, fmt.Errorf("run %s: %w", c.Name, err)
	}
	return p, nil
}

// at returns the program for the file at path, on the system goos.
//
// Windows gives the line of a batch file to its command interpreter, which evaluates the arguments, looks
// up the first word again, and finds programs in the working directory. So a batch file gets its own
// path as the first word, and an environment without the working directory.
func (c Command) at(path, goos string) (program, error) {
	p := program{path: path, argv: slices.Concat([]string{c.Name}, c.Args), env: c.Env.inherited()}
	if goos != "windows" || !isBatch(path) {
		return p, nil
	}
	if err := checkBatch(path, c.Args); err != nil {
		return program{}, err
	}
	p.argv[0] = path
	p.env = p.env.With("NoDefaultCurrentDirectoryInExePath=1")
	return p, nil
}

// isBatch reports whether Windows takes the file at path for a batch file. It ignores dots and blanks at
// the end of a name.
func isBatch(path string) bool {
	ext := strings.ToLower(filepath.Ext(strings.TrimRight(path, ". ")))
	return ext == ".bat" || ext == ".cmd"
}

// evaluated are the characters that the command interpreter of Windows evaluates, some of them even in
// quotation marks.
const evaluated = "&|<>()^%!\"\r\n"

// checkBatch refuses arguments that Windows would evaluate on their way to the batch file at path. The
// error shows none of them.
func checkBatch(path string, args []string) error {
	const remedy = "; install the program as an .exe file, and remove the batch file from the PATH"
	// Directories such as "Program Files (x86)" are usual, and the command interpreter ignores
	// parentheses within a word.
	if i := strings.IndexAny(path, strings.NewReplacer("(", "", ")", "").Replace(evaluated)); i >= 0 {
		return fmt.Errorf("%q is a batch file, and its path has %q, which Windows evaluates"+remedy, path, path[i])
	}
	for _, arg := range args {
		if i := strings.IndexAny(arg, evaluated); i >= 0 {
			return fmt.Errorf("%q is a batch file, and an argument has %q, which Windows evaluates; "+
				`a batch file accepts arguments without & | < > ( ) ^ %% ! " and line breaks`+remedy, path, arg[i])
		}
	}
	return nil
}
