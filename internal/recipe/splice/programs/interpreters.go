package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/lazyregexp"
)

var (
	shells = []string{
		"sh", "bash", "rbash", "dash", "ash", "zsh", "rzsh", "ksh", "rksh", "mksh", "rmksh", "lksh", "oksh", "pdksh", "yash", "posh", "bosh", "sash", "hush", "osh",
	}
	// interpreters run a program from a file, which must be a constant, or from their input.
	interpreters = []string{
		"ysh", "fish", "csh", "tcsh", "elvish", "nu", "xonsh", "pwsh", "powershell", "awk", "gawk", "mawk", "nawk", "sed", "python", "pypy", "perl", "ruby",
		"node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "wish", "Rscript", "julia", "guile", "osascript", "bc",
	}
	// otherShells is the number of interpreters that are shells.
	otherShells = 9
	// readers run their input, and any of their arguments or what it names.
	readers = []string{"cmd", "m4", "dc", "ed", "ex", "vi", "vim", "nvim", "psql", "mysql", "sqlite3", "gdb"}
)

// Options are what copse knows about the options of one letter that precede the program of an
// interpreter. After another option, the next word can be its value or the program.
type Options struct {
	flags    string // have no value
	attached string // have the rest of their word as the value
	values   string // have the rest of their word as the value, or else the next word
	next     string // have the next word as the value
	programs string // have the program, or its file, as the value, like values
	Opens    string // are flags that make the program open the other arguments as commands
	files    string // are among programs, and have its file as the value
	data     string // are among values, which are data for the program
	runner   string // makes the other arguments names of files
	Anywhere bool   // options can follow the other arguments
	Ends     bool   // the program ends the options
	Text     bool   // an argument that is the program is its text, and not a file
}

// Known returns the options of an interpreter.
func Known(base string) Options {
	switch base {
	case "awk", "gawk", "mawk", "nawk":
		return Options{values: "Fvil", programs: "efE", files: "fE", data: "Fv", Text: true}
	case "sed":
		return Options{flags: "nErsuz", attached: "i", programs: "ef", files: "f", Anywhere: true, Text: true}
	case "perl":
		return Options{flags: "acfgl0123456789sStTuUvwWX", attached: "iCdDFmMVx", values: "I", programs: "eE", Opens: "np"}
	case "ruby":
		return Options{flags: "alnpsSvw", attached: "iFKTWx0", values: "CErI", programs: "e"}
	case "python", "pypy":
		return Options{flags: "bBdEhiIOPqRsStuvVx", values: "WX", programs: "cm", files: "m", Ends: true}
	case "node", "nodejs":
		return Options{flags: "civh", values: "rC", programs: "ep", runner: "--test"}
	case "deno":
		return Options{flags: "Aq", values: "c"}
	case "php":
		return Options{flags: "aCHnqsw", values: "cdz", programs: "fr", files: "f"}
	case "lua", "luajit":
		return Options{flags: "iEvW", values: "elj"}
	case "sh":
		return Options{flags: "abcefhiklmnprstuvxBCDEHPT", next: "oO"}
	}
	return Options{}
}

// Interpreter returns the name of an interpreter without a version, as in lua5.4 and ksh93, and without the
// extension on Windows; sh is the name of all POSIX shells.
func Interpreter(base string) string {
	base = strings.TrimRight(strings.TrimSuffix(base, ".exe"), "0123456789.-")
	switch {
	case slices.Contains(shells, base):
		return "sh"
	case strings.HasPrefix(base, "python"):
		return "python"
	}
	return base
}

// Shell reports whether an interpreter is a shell, of POSIX or not.
func Shell(base string) bool {
	base = Interpreter(base)
	return base == "sh" || slices.Contains(interpreters[:otherShells], base) || base == "cmd"
}

// Interprets reports whether a command is an interpreter.
func Interprets(base string) bool {
	base = Interpreter(base)
	return base == "sh" || slices.Contains(interpreters, base) || Reads(base)
}

// Reads reports whether an interpreter runs its input, and any of its arguments.
func Reads(base string) bool { return base == "sqlite" || slices.Contains(readers, base) }

// Edits reports whether an interpreter is an editor, which opens the files that its arguments name.
func Edits(base string) bool { return base == "vi" || base == "vim" || base == "nvim" }

// IsData reports whether an option has data as its value, which the program gets.
func (o Options) IsData(option string) bool {
	return len(option) > 1 && option[0] == '-' && strings.IndexByte(o.data, option[1]) >= 0
}

// Meaning is the meaning of an option.
type Meaning struct {
	Words   int // number of words after it that are its values
	Program bool
	File    bool // the program is in a file
	Doubt   bool // the next word can be its value, or not
	Opens   bool
	// attached is the rest of the word that is the program, or its file.
	Attached string
}

// Read returns the meaning of an option.
func (o Options) Read(text string) (m Meaning) {
	if text == o.runner && text != "" {
		return Meaning{Program: true, File: true}
	}
	if strings.HasPrefix(text, "--") {
		own := slices.ContainsFunc([]string{"--no-", "--allow-", "--deny-"}, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
		m.Doubt = text != "--" && !strings.Contains(text, "=") && !own
		return m
	}
	for i, letter := range text[1:] {
		is := func(letters string) bool { return strings.ContainsRune(letters, letter) }
		last := i == len(text)-2
		m.Program, m.File, m.Opens = is(o.programs), is(o.files), m.Opens || is(o.Opens)
		switch {
		case is(o.next):
			m.Words++
		case is(o.flags), is(o.Opens):
			continue
		case is(o.values), m.Program:
			if last {
				m.Words++
			} else if m.Program {
				m.Attached = text[i+2:]
			}
			return m
		case is(o.attached):
			return m
		default:
			m.Doubt = true
			return m
		}
	}
	return m
}

// Suspicious reports whether the text of a constant program may run what it reads.
func Suspicious(base, text string) bool {
	switch base {
	case "sh":
		return true
	case "awk", "gawk", "mawk", "nawk":
		return strings.Contains(strings.ReplaceAll(text, "||", ""), "|") || strings.Contains(text, "system") || strings.ContainsAny(text, "@") || strings.Contains(text, "getline")
	case "sed":
		return executes.Get().MatchString(text)
	}
	return runs.Get().MatchString(text)
}

var (
	// executes matches the command e of sed, and the flag of its command s.
	executes = lazyregexp.New(`(?:^|[^A-Za-z.\\])[gpiImMw0-9]*e[gpiImM0-9]*\s*(?:[;}\n#]|$|\s\w)|(?:^|[;{\n])\s*[0-9,$]*\s*s[A-Za-z.]`)
	// runs matches the functions of programming languages that run or evaluate a text.
	runs = lazyregexp.New(`(?i)exec|eval|system|popen|spawn|subprocess|child_process|compile|pickle|marshal|import\s*\(|__|\bopen\b|\bIO\.|function\s*\(|\bsend\b|getattr|passthru|uplevel|\binclude|call_user|require\s*\(\s*[a-z]|\b(?:qx|vm|do|load|dofile|source|subst)\b|%x|[` + "`|]" + `|/\w*e\w*\s*(?:;|$)`)
)

// Plus reports whether options can begin with a plus sign, too.
func (o Options) Plus() bool { return o.next != "" }

// Begins returns the name of the interpreter in the first line of a script, "" if there is none.
func Begins(script string) string {
	line, _, _ := strings.Cut(script, "\n")
	line, _ = strings.CutPrefix(line, "#!")
	for word := range strings.FieldsSeq(line) {
		if base := path.Base(word); Interprets(base) {
			return Interpreter(base)
		}
	}
	return ""
}
