package programs

import (
	"slices"
	"strings"
)

// Variables whose values programs or shells evaluate, and the beginnings and ends of the names of others.
var (
	special = []string{
		"PS0", "PS1", "PS2", "PS3", "PS4", "BASH_ENV", "SHELL", "LESSOPEN", "LESSCLOSE", "BROWSER", "IFS", "PATH", "VISUAL", "ZDOTDIR", "HOME", "XDG_CONFIG_HOME",
		"PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "NODE_OPTIONS", "NODE_PATH", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB", "MAKEFLAGS",
		"MAKEFILES", "GNUMAKEFLAGS",
		"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS", "CLASSPATH", "GOFLAGS", "CC", "CXX", "LD", "AR", "CPP",
		"TAR_OPTIONS", "FZF_DEFAULT_OPTS", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONBREAKPOINT", "VIMINIT", "EXINIT", "LESS", "SHELLOPTS", "BASHOPTS", "GCONV_PATH", "OPENSSL_CONF", "RUBYSHELL",
		// Shells evaluate these as arithmetic expressions.
		"SRANDOM", "BASHPID", "EPOCHSECONDS", "LINENO", "PPID", "RANDOM", "SECONDS", "OPTIND", "HISTCMD", "HISTSIZE", "SAVEHIST", "COLUMNS", "LINES", "SHLVL", "UID", "EUID", "GID", "EGID", "ERRNO",
		"KEYTIMEOUT", "MAILCHECK", "LISTMAX", "LOGCHECK", "TMOUT", "BAUD", "FUNCNEST", "USER_ID", "PGRP", "PIPESTATUS", "REPORTTIME", "REPORTMEMORY", "ZLE_RPROMPT_INDENT", "DIRSTACKSIZE",
	}
	specialBeginnings = []string{"LD_", "DYLD_", "GIT_", "RUSTC", "NPM_CONFIG_", "npm_config_", "LUA_INIT"}
	specialEnds       = []string{"EDITOR", "PAGER", "_COMMAND", "ASKPASS", "_RSH", "_SSH", "_WRAPPER", "_RUNNER", "_LINKER", "_LAUNCHER", "RUSTC", "RUSTDOC", "RUSTFLAGS", "RUSTDOCFLAGS", "CFLAGS", "CPPFLAGS", "CXXFLAGS", "LDFLAGS"}
)

// Startup is the variable whose value an interactive shell evaluates.
const Startup = "ENV"

// Special reports whether programs or shells evaluate, or run, the value of the variable with a name.
func Special(name string) bool {
	return slices.Contains(special, name) ||
		slices.ContainsFunc(specialBeginnings, func(begin string) bool { return strings.HasPrefix(name, begin) }) ||
		slices.ContainsFunc(specialEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// Interactive reports whether an argument of a shell makes it interactive.
func Interactive(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.Contains(arg, "i")
}
