package programs

import (
	"slices"
	"strings"
)

// Commands that evaluate their arguments, or run what these name.
var (
	// builtins are those of the shell.
	builtins = []string{
		"eval", ".", "source", "trap", "alias", "let", "bind", "complete", "compgen", "coproc", "enable", "hash", "emulate", "functions", "print", "fc", "history",
		"declare", "typeset", "local", "export", "readonly",
	}
	// evaluators are programs that evaluate any argument.
	evaluators = []string{
		"parallel", "watch", "ssh", "su", "make", "gmake", "bmake", "task", "go-task", "just", "script", "expect", "at", "batch", "crontab", "entr", "tmux", "screen",
		"split", "hyperfine", "concurrently", "watchexec", "nodemon", "mprocs", "pueue", "ansible", "salt", "fab", "pdsh", "pssh", "parallel-ssh", "sbt", "pm2", "clush", "rsh", "plink", "adb", "zmv", "zargs",
	}
	// verbs are evaluators whose names are usual commands of other programs.
	verbs = []string{"watch", "script", "at", "batch", "split", "screen", "expect", "task"}
	// namers evaluate the names of variables among their arguments, and set variables.
	namers = []string{"read", "unset", "mapfile", "readarray", "getopts", "wait"}
	// arithmetic are builtins that evaluate numbers as arithmetic expressions in ksh or zsh.
	arithmetic = []string{
		"exit", "return", "shift", "break", "continue", "logout", "bye", "integer", "float", "repeat", "ulimit", "limit", "umask", "setopt", "unsetopt",
		"sched", "vared", "zle", "zparseopts", "zformat", "zstyle", "zmodload", "zsystem", "zselect", "autoload",
	}
	// special are variables whose values programs, or shells, evaluate.
	special = []string{
		"PS0", "PS1", "PS2", "PS3", "PS4", "BASH_ENV", "ENV", "SHELL", "LESSOPEN", "LESSCLOSE", "BROWSER", "IFS", "PATH", "VISUAL", "ZDOTDIR", "HOME", "XDG_CONFIG_HOME",
		"PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "NODE_OPTIONS", "NODE_PATH", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "MAKEFLAGS",
		"MAKEFILES", "GNUMAKEFLAGS",
		"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS", "CLASSPATH", "GOFLAGS", "CC", "CXX", "LD", "AR", "CPP",
		"TAR_OPTIONS", "FZF_DEFAULT_OPTS", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONBREAKPOINT", "VIMINIT", "EXINIT", "LESS", "SHELLOPTS", "BASHOPTS", "GCONV_PATH", "OPENSSL_CONF", "RUBYSHELL",
		// The shells evaluate these as numbers.
		"RANDOM", "SECONDS", "OPTIND", "HISTCMD", "HISTSIZE", "SAVEHIST", "COLUMNS", "LINES", "SHLVL", "UID", "EUID", "GID", "EGID", "ERRNO", "KEYTIMEOUT", "MAILCHECK", "LISTMAX",
		"LOGCHECK", "TMOUT", "BAUD", "FUNCNEST",
	}
	// specialBeginnings and specialEnds are those of more such variables.
	specialBeginnings = []string{"LD_", "DYLD_", "GIT_", "RUSTC", "NPM_CONFIG_", "npm_config_", "LUA_INIT"}
	specialEnds       = []string{"EDITOR", "PAGER", "_COMMAND", "ASKPASS", "_RSH", "_SSH", "_WRAPPER", "_RUNNER", "_LINKER", "_LAUNCHER", "RUSTC", "RUSTDOC", "RUSTFLAGS", "RUSTDOCFLAGS", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS"}
)

// Special reports whether programs or shells evaluate, or run, the value of the variable with a name.
func Special(name string) bool {
	return slices.Contains(special, name) ||
		slices.ContainsFunc(specialBeginnings, func(begin string) bool { return strings.HasPrefix(name, begin) }) ||
		slices.ContainsFunc(specialEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// Builtin reports whether a command of the shell evaluates any argument.
func Builtin(name string) bool { return slices.Contains(builtins, name) }

// Names reports whether a command of the shell evaluates the names of variables among its arguments.
func Names(name string) bool { return slices.Contains(namers, name) }

// Counts reports whether a command of ksh or zsh evaluates numbers among its arguments.
func Counts(name string) bool { return slices.Contains(arithmetic, name) }

// Includes reports whether a program reads files that neither its arguments nor its input name, and inserts
// variables of its environment into commands.
func Includes(name string) bool {
	return slices.Contains([]string{"make", "gmake", "bmake", "task", "go-task", "just"}, name)
}

// Evaluates reports whether a program evaluates any argument.
func Evaluates(name string) bool { return slices.Contains(evaluators, name) }

// Runs reports whether a word in the arguments of a program is another one that evaluates, or can run,
// its own arguments. The command watch of cargo does, too.
func Runs(program, word string) bool {
	return Interprets(word) || Evaluates(word) && (program == "cargo" || !slices.Contains(verbs, word))
}
