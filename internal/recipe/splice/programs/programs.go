// Package programs is what copse knows about the programs and the shells that recipes use: which of them
// evaluate their arguments as code, and where others accept any text.
package programs

import (
	"path"
	"slices"
	"strings"
)

// Kind is what a program does with its arguments.
type Kind int

// The kinds of programs. A program that copse does not know is [Ordinary].
const (
	Ordinary Kind = iota
	// Stores means that the program prints, stores, or compares its arguments, which can contain any text.
	Stores
	// Wraps means that the program runs another one, which is one of its arguments.
	Wraps
	// Interprets means that the program runs code from a file, or from an argument, that comes before the
	// arguments of that code.
	Interprets
	// Evaluates means that the program, or the builtin of a shell, evaluates any argument.
	Evaluates
)

var (
	storing = []string{
		"echo", "printf", ":", "true", "false", "cd", "pushd", "[", "test", "which", "sleep", "seq", "date",
		"cat", "tee", "head", "tail", "wc", "cut", "tr", "uniq", "diff", "cmp", "comm", "join", "paste", "column", "fold", "fmt", "nl", "rev", "tac", "grep", "egrep", "fgrep",
		"mkdir", "rmdir", "touch", "cp", "mv", "rm", "ln", "ls", "stat", "chmod", "chown", "du", "df", "basename", "dirname", "realpath", "readlink", "curl", "jq", "pytest", "rg", "ag", "tox",
		"base64", "md5sum", "sha1sum", "sha256sum", "sha512sum", "shasum", "od", "hexdump", "logger", "notify-send", "say", "figlet", "cowsay", "pbcopy", "wl-copy",
	}
	wrappers = []string{
		"command", "exec", "time", "busybox", "nohup", "env", "sudo", "doas", "nice", "ionice", "setsid", "stdbuf", "timeout", "chroot", "xvfb-run", "caffeinate",
		"nix-shell", "flatpak", "npx", "pnpx", "bunx", "uvx", "setpriv", "unshare", "strace", "ltrace", "xcrun", "cross-env", "dotenv", "envdir", "systemd-run", "fakeroot", "gnome-terminal", "xterm",
		"chrt", "taskset", "numactl", "prlimit", "setarch", "linux32", "linux64", "nsenter", "ssh-agent", "runuser", "gosu", "su-exec", "pkexec", "run0", "valgrind", "perf", "mpirun", "mpiexec",
		"systemd-inhibit", "dbus-run-session", "dbus-launch", "rlwrap", "firejail", "bwrap", "proot", "tini", "dumb-init", "torify", "torsocks", "proxychains", "eatmydata", "softlimit", "chpst",
	}
	// twoWords are wrappers with one more word, such as a directory, before the command.
	twoWords = []string{"chroot", "flock", "envdir", "setarch", "runuser", "gosu", "su-exec", "mpirun", "mpiexec"}
	shells   = []string{
		"sh", "bash", "rbash", "dash", "ash", "zsh", "rzsh", "ksh", "rksh", "mksh", "rmksh", "lksh", "oksh", "pdksh", "yash", "posh", "bosh", "sash", "hush", "osh",
		"ysh", "fish", "csh", "tcsh", "elvish", "nu", "xonsh", "pwsh", "powershell", "cmd",
	}
	languages = []string{
		"awk", "gawk", "mawk", "nawk", "sed", "python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "tclsh", "wish", "Rscript", "julia",
		"guile", "osascript",
	}
	evaluators = []string{
		// Builtins of shells, of which some evaluate names and numbers.
		"eval", ".", "source", "trap", "alias", "unalias", "let", "bind", "builtin", "complete", "compgen", "coproc", "enable", "hash", "emulate", "functions", "print", "fc", "history",
		"declare", "typeset", "local", "export", "readonly", "integer", "float", "set", "shift", "unset", "read", "mapfile", "readarray", "getopts", "wait", "exit", "return", "break", "continue", "repeat",
		"ulimit", "limit", "umask", "shopt", "setopt", "unsetopt", "noglob", "nocorrect", "autoload", "zmodload", "zmv", "zargs", "[[", "((", "function", "select", "jobs", "kill", "type", "logout", "bye",
		// Programs.
		"parallel", "watch", "ssh", "su", "make", "gmake", "bmake", "task", "go-task", "just", "script", "expect", "at", "batch", "crontab", "entr", "tmux", "screen", "xargs",
		"split", "hyperfine", "concurrently", "watchexec", "nodemon", "mprocs", "pueue", "ansible", "salt", "fab", "pdsh", "pssh", "parallel-ssh", "sbt", "pm2", "clush", "rsh", "plink", "adb",
		"autossh", "sem", "duckdb", "nameref", "whence", "m4", "bc", "dc", "ed", "ex", "vi", "vim", "nvim", "emacs", "psql", "mysql", "sqlite3", "gdb", "sg", "lldb", "unbuffer",
	}
	// verbs are evaluators whose names are usual commands of other programs.
	verbs = []string{
		".", "watch", "script", "at", "batch", "split", "screen", "expect", "task", "set", "export", "read", "print", "history", "functions", "source", "limit", "repeat", "type", "select",
		"complete", "enable", "hash", "kill", "wait", "return", "exit", "break", "continue", "alias", "bind", "builtin", "local", "function", "jobs", "declare", "shift", "unset", "logout",
	}
	// environments evaluate variables of their environment, or run code that can.
	environments = []string{"eval", "make", "gmake", "bmake", "task", "go-task", "just", "parallel", "xargs", "su", "script"}
	// ownCommands run only what the project defines with their command run.
	ownCommands = []string{
		"cargo", "go", "npm", "pnpm", "yarn", "dotnet", "swift", "flutter", "dart", "zig", "cabal", "gradle", "gradlew", "mix",
		"vitest", "cypress", "newman", "k6", "pre-commit", "prek", "golangci-lint", "nx", "turbo", "lerna", "dbt", "caddy", "lefthook", "meltano", "kedro",
	}
	runWords = []string{"run", "exec", "x", "dlx", "eval", "runner", "shell", "ssh", "foreach", "exec-env", "exec-file", "lock"}
	// direct run the command that follows the word run or exec. Other programs have the name of a machine or the
	// like before it.
	direct = []string{"uv", "poetry", "pipenv", "pdm", "pixi", "conda", "bundle", "npm", "pnpm", "yarn", "bun", "mise", "opam", "stack", "cabal", "dune", "rye", "hatch", "op", "doppler", "dotenvx"}
	// flags are options without a value.
	flags = []string{
		"--rm", "-i", "-t", "-it", "-ti", "-d", "-T", "-q", "-E", "-H", "-y", "--yes", "--interactive", "--tty", "--stdin", "--detach", "--no-tty", "--no-TTY", "--no-deps", "--quiet", "--verbose",
		"--preserve-env", "--foreground", "--frozen", "--locked", "--no-sync", "--bun", "--",
	}
	// commandParts are the parts in the names of options that take a command.
	commandParts = []string{"run", "script", "hook", "rsh", "pager", "pre", "action", "pack", "expr", "expression", "extcmd", "scripts", "preview", "bind", "ldflags", "wrap", "wrapper", "vettool", "renderer"}
	commandTexts = []string{"exec", "eval", "cmd", "command", "shell", "editor", "program", "askpass", "rsync-path", "onerror", "onoutofmemory"}
	messages     = []string{"-m", "--message", "--msg", "--title", "--body", "--notes", "--description", "--desc", "--summary", "--comment", "--subject", "--text", "--label", "--grep"}
	filters      = []string{"cat", "grep", "egrep", "fgrep", "head", "tail", "wc", "cut", "tr", "jq", "column", "nl", "fold"}
	gitCommands  = []string{
		"add", "am", "apply", "blame", "branch", "checkout", "cherry-pick", "clean", "commit", "describe", "diff", "fetch", "grep", "init", "log", "ls-files", "merge",
		"merge-base", "mv", "notes", "pull", "push", "reset", "restore", "rev-list", "rev-parse", "revert", "rm", "shortlog", "show", "show-ref", "stash", "status", "switch", "tag", "worktree",
	}
	hubCommands = []string{"api", "browse", "gist", "issue", "label", "mr", "pr", "project", "release", "repo", "search", "secret", "status", "variable"}
)

// Of returns the kind of a program, whose name can have a directory and a version, as in /usr/bin/python3.12, and
// the g of GNU's programs on macOS, as in gtimeout.
func Of(name string) Kind {
	base := base(name)
	own := strings.Contains(name, "/") && !strings.HasPrefix(name, "/")
	kind := of(base)
	if gnu, ok := strings.CutPrefix(base, "g"); ok && kind == Ordinary {
		kind = of(gnu)
	}
	if own && (kind == Stores || kind == Wraps) {
		return Ordinary // the project's, whatever its name is
	}
	return kind
}

func of(base string) Kind {
	switch {
	case slices.Contains(evaluators, base):
		return Evaluates
	case IsShell(base), slices.Contains(languages, interpreter(base)):
		return Interprets
	case slices.Contains(storing, base):
		return Stores
	case slices.Contains(wrappers, base):
		return Wraps
	}
	return Ordinary
}

// Named returns the kind of a program that a word among the arguments of another one names. Commands of other
// programs, such as history, can have the name of an evaluator.
func Named(word string) Kind {
	if slices.Contains(verbs, word) {
		return Ordinary
	}
	if kind := Of(word); kind != Stores {
		return kind
	}
	return Ordinary
}

// IsShell reports whether a program is a shell, of POSIX or not.
func IsShell(name string) bool { return slices.Contains(shells, interpreter(base(name))) }

// interpreter returns the name of an interpreter without a version, as in lua5.4 and ksh93.
func interpreter(base string) string {
	if strings.HasPrefix(base, "python") {
		return "python"
	}
	return strings.TrimRight(base, "0123456789.-")
}

// base returns the name of a program without its directory and the extension on Windows.
func base(program string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(program, `\`, "/")), ".exe")
}

// Environment reports whether a program evaluates variables of its environment, or runs code that can.
func Environment(name string) bool { return slices.Contains(environments, base(name)) }

// Filter reports whether a program with arguments only prints parts of its input.
func Filter(name string, args []string) bool {
	if name == "sort" || name == "uniq" { // both can write a file
		return !slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(arg, "-") || strings.Contains(arg, "o") })
	}
	return slices.Contains(filters, name)
}

// Message reports whether programs print or store the value of an option, whatever its text is.
func Message(option string) bool { return slices.Contains(messages, option) }

// Flag reports whether an option has no value.
func Flag(option string) bool { return slices.Contains(flags, option) || strings.Contains(option, "=") }

// Needs returns how many constant words must precede a value among the arguments of a wrapper or an interpreter.
func Needs(program string) int {
	switch {
	case slices.Contains(twoWords, base(program)):
		return 2
	case Of(program) == Wraps, Of(program) == Interprets:
		return 1
	}
	return 0
}

// CommandAfter returns how many constant words must follow a word of a program before there can be a value. After a
// word such as run, they include the command that the program runs.
func CommandAfter(program, word string) int {
	program = base(program)
	switch {
	case program == "cargo" && word == "watch", program == "yarn" && word == "workspace":
		return never
	case program == "cmake" && word == "env":
		return 1
	case !slices.Contains(runWords, word), word == "run" && slices.Contains(ownCommands, program):
		return 0
	case slices.Contains(direct, program):
		return 1
	}
	return 2
}

// never is more constant words than a command has.
const never = 1 << 20

// Subcommand reports whether a program accepts any text after a command, such as commit of git. Other
// programs have no such commands.
func Subcommand(program, word string) (accepts, known bool) {
	switch base(program) {
	case "git":
		return slices.Contains(gitCommands, word), true
	case "gh", "glab":
		return slices.Contains(hubCommands, word), true
	}
	return true, false
}

// TakesCommand reports whether the value of an option is, or can be, code or a command. The options -run of
// go and --no-exec are not of that kind.
func TakesCommand(program, option string) bool {
	letters := strings.TrimPrefix(option, "-")
	if short := !strings.HasPrefix(letters, "-") && len(letters) <= 3; short && letters != "" {
		last := letters[len(letters)-1] // the value belongs to it
		switch {
		case Of(program) == Stores:
			return false
		case slices.Contains([]string{"scp", "sftp", "fd", "fdfind"}, base(program)):
			return strings.IndexByte("oSxX", last) >= 0
		case slices.Contains([]string{"apt", "apt-get", "apt-cache", "aptitude"}, base(program)):
			return strings.IndexByte("oc", last) >= 0
		case slices.Contains([]string{"zip", "tcpdump"}, base(program)):
			return strings.IndexByte("Tz", last) >= 0
		case base(program) == "git":
			return last == 'O'
		}
		return strings.IndexByte("ceExISO", last) >= 0
	}
	if base(program) == "go" && letters == "run" {
		return false
	}
	name := strings.ToLower(strings.Trim(option, "-="))
	parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_.:", r) })
	if len(parts) > 0 && (parts[0] == "no" || parts[0] == "dry") {
		return false
	}
	return slices.ContainsFunc(commandTexts, func(text string) bool { return strings.Contains(name, text) }) ||
		slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(commandParts, part) }) ||
		len(parts) > 0 && parts[len(parts)-1] == "filter" && (len(parts) > 1 || base(program) == "pandoc")
}

// Splits reports whether an option makes env split a constant into the words of a command.
func Splits(program, option string) bool {
	return base(program) == "env" && (strings.HasPrefix(option, "--split-string") || strings.HasPrefix(option, "-") && !strings.HasPrefix(option, "--") && strings.Contains(option, "S"))
}

// Precedes reports whether an option of an interpreter, or the value of one, can come before the file with the
// code.
func Precedes(word string) bool {
	return slices.Contains([]string{"-u", "-B", "-O", "-I", "-s", "-n", "-r", "-i", "-x", "-eu", "-eux", "-euo", "pipefail", "-A", "run", "eval"}, word) || strings.HasPrefix(word, "--allow-")
}
