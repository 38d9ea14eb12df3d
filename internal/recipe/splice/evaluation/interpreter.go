package evaluation

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
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
	// readers run their input, and any of their arguments or what it names.
	readers = []string{"cmd", "m4", "dc", "ed", "ex", "vi", "vim", "nvim", "psql", "mysql", "sqlite3", "gdb"}
)

// options are what copse knows about the options of one letter that precede the program of an
// interpreter. After another option, the next word can be its value or the program.
type options struct {
	flags    string // have no value
	attached string // have the rest of their word as the value
	values   string // have the rest of their word as the value, or else the next word
	next     string // have the next word as the value
	programs string // have the program, or its file, as the value, like values
	opens    string // are flags that make the program open the other arguments as commands
	anywhere bool   // options can follow the other arguments
	ends     bool   // the program ends the options
}

// known are the options of an interpreter.
func known(base string) options {
	switch base {
	case "awk", "gawk", "mawk", "nawk":
		return options{values: "Fvil", programs: "efE"}
	case "sed":
		return options{flags: "nErsuz", attached: "i", programs: "ef", anywhere: true}
	case "perl":
		return options{flags: "acfgl0123456789sStTuUvwWX", attached: "iCdDFmMVx", values: "I", programs: "eE", opens: "np"}
	case "ruby":
		return options{flags: "alnpsSvw", attached: "iFKTWx0", values: "CErI", programs: "e"}
	case "python", "pypy":
		return options{flags: "bBdEhiIOPqRsStuvVx", values: "WX", programs: "cm", ends: true}
	case "node", "nodejs":
		return options{flags: "civh", values: "rC", programs: "ep"}
	case "deno":
		return options{flags: "Aq", values: "c"}
	case "php":
		return options{flags: "aCHnqsw", values: "cdz", programs: "fr"}
	case "lua", "luajit":
		return options{flags: "iEvW", values: "elj"}
	case "sh":
		return options{flags: "abcefhiklmnprstuvxBCDEHPT", next: "oO"}
	}
	return options{}
}

// interpreter returns the name of an interpreter without a version, as in lua5.4 and ksh93, and without the
// extension on Windows; sh is the name of all POSIX shells.
func interpreter(base string) string {
	base = strings.TrimRight(strings.TrimSuffix(base, ".exe"), "0123456789.-")
	switch {
	case slices.Contains(shells, base):
		return "sh"
	case strings.HasPrefix(base, "python"):
		return "python"
	}
	return base
}

// interprets reports whether a command is an interpreter.
func interprets(base string) bool {
	base = interpreter(base)
	return base == "sh" || base == "sqlite" || slices.Contains(interpreters, base) || slices.Contains(readers, base)
}

// interpreter examines a call of an interpreter: its program must be a constant.
func (s *script) interpreter(base string, args []*syntax.Word, around []syntax.Node) {
	base = interpreter(base)
	if constant := s.fed(base, args, around); !constant {
		s.direct, s.indirect = true, true
	}
}

// fed examines the input of an interpreter, and the files that it runs. It reports whether its program
// is a constant, or comes from the input that a word names.
func (s *script) fed(base string, args []*syntax.Word, around []syntax.Node) (constant bool) {
	var reads bool // its input
	if base == "sqlite" || slices.Contains(readers, base) {
		constant, reads = !slices.ContainsFunc(args, variable), true
		s.evaluator(args, nil)
	} else {
		var programs []string
		programs, constant = known(base).program(subcommand(base, args))
		reads = !constant
		for _, program := range programs {
			s.evaluates(s.written[path.Base(program)])
			reads = reads || program == "-" || strings.HasPrefix(program, "/dev/") || strings.HasPrefix(program, "/proc/")
		}
		reads = reads || base == "sh" && slices.ContainsFunc(args, fromInput)
	}
	if reads {
		s.evaluates(s.input(around))
	}
	return constant
}

// fromInput reports whether a word has the option -s of a shell.
func fromInput(w *syntax.Word) bool {
	text, _ := word(w)
	return strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.Contains(text, "s")
}

// subcommand returns the arguments without the command of deno or bun that runs a program.
func subcommand(base string, args []*syntax.Word) []*syntax.Word {
	if (base == "deno" || base == "bun") && len(args) > 0 {
		if name, _ := word(args[0]); slices.Contains([]string{"run", "eval", "exec", "x", "serve"}, name) {
			return args[1:]
		}
	}
	return args
}

func variable(w *syntax.Word) bool {
	_, literal := word(w)
	return !literal
}

// program returns the program in the arguments of an interpreter, or its files, and whether it is a
// constant. A program that comes from the input is not, unless a word such as - says so.
func (o options) program(args []*syntax.Word) (programs []string, constant bool) {
	var found meaning // of the options together
	others := false   // the words that are neither options nor the program have begun
	for i := 0; i < len(args); i++ {
		text, literal := word(args[i])
		option := literal && len(text) > 1 && (text[0] == '-' || text[0] == '+' && o.next != "")
		switch {
		case option && (!others || o.anywhere):
			read := o.read(text)
			n := read.words
			if others && read.doubt {
				n = max(n, 1)
			}
			values := args[i+1 : min(i+1+n, len(args))]
			if slices.ContainsFunc(values, variable) {
				return programs, false
			}
			programs = append(programs, read.programs(values)...)
			read.opens = read.opens || o.opens != "" && slices.ContainsFunc(values, opens)
			i += read.words
			found.program, found.opens, found.doubt = found.program || read.program, found.opens || read.opens, read.doubt
			others = read.program && o.ends
		case others:
		case found.program:
			others = true // this is one
		case !literal:
			return programs, false
		case o.anywhere && (text == "" || text[0] == '.'): // the suffix of sed -i on BSD and macOS
		case found.doubt:
			found.doubt = false
			programs = append(programs, text)
		default:
			found.program, others = true, true
			programs = append(programs, text)
		}
		if others && found.opens && variable(args[min(i, len(args)-1)]) {
			return programs, false
		}
	}
	return programs, found.program
}

// opens reports whether the text of a program reads the files that its arguments name with <>, which
// runs commands in Perl; <<>> does not.
func opens(w *syntax.Word) bool {
	text, _ := word(w)
	return strings.Contains(strings.ReplaceAll(text, "<<>>", ""), "<>")
}

// meaning is the meaning of an option.
type meaning struct {
	words   int // number of words after it that are its values
	program bool
	doubt   bool // the next word can be its value, or not
	opens   bool
	// attached is the rest of the word that is the program, or its file.
	attached string
}

// programs returns the program, or its file, if the option has one, with the values after it.
func (m meaning) programs(values []*syntax.Word) []string {
	if !m.program {
		return nil
	}
	texts := []string{m.attached}
	for _, w := range values {
		text, _ := word(w)
		texts = append(texts, text)
	}
	return texts
}

func (o options) read(text string) (m meaning) {
	if strings.HasPrefix(text, "--") {
		own := slices.ContainsFunc([]string{"--no-", "--allow-", "--deny-"}, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
		m.doubt = text != "--" && !strings.Contains(text, "=") && !own
		return m
	}
	for i, letter := range text[1:] {
		is := func(letters string) bool { return strings.ContainsRune(letters, letter) }
		last := i == len(text)-2
		m.program, m.opens = is(o.programs), m.opens || is(o.opens)
		switch {
		case is(o.next):
			m.words++
		case is(o.flags), is(o.opens):
			continue
		case is(o.values), m.program:
			if last {
				m.words++
			} else if m.program {
				m.attached = text[i+2:]
			}
			return m
		case is(o.attached):
			return m
		default:
			m.doubt = true
			return m
		}
	}
	return m
}
