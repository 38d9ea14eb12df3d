// Package programs is what copse knows about the programs and the shells that recipes use: which of them
// evaluate their arguments, and where others accept any text.
package programs

import (
	"path"
	"slices"
	"strings"
)

// Program is what copse knows about the arguments of a program. The one that it does not know is the
// zero value.
type Program struct {
	Texts bool // the arguments can contain any text
	Words bool // a value can become several of them
	Input bool // the program does not evaluate its input
	Finds bool // it runs the command after -exec and the like
	// Commanded means that the rest is true only after the command, such as commit of git.
	Commanded bool
	// Options have any text as the value.
	Options []string
	// Needs is 1 if the program runs a command that is one of its arguments.
	Needs int
	// letters are options that do not take a command although their letter is c, e, E, or x, and commands
	// are others that do.
	letters, commands string
	// settings are options that can set a command although their name does not say so.
	settings []string
	// valued are options that have a value before that command, if they are not the usual ones.
	valued []string
}

// never is more constant words than a program can have.
const never = 1 << 20

// External reports whether a program runs another one, and is not a builtin of a shell.
func External(name string) bool { return slices.Contains(wrappers[builtinWrappers:], name) }

// builtinWrappers is the number of wrappers that are, or can be, builtins.
const builtinWrappers = 6

var (
	// wrappers run another command, which is one of their arguments.
	wrappers = []string{
		"command", "builtin", "exec", "time", "noglob", "nocorrect", "busybox", "nohup", "env", "sudo", "doas", "nice", "ionice", "setsid", "stdbuf", "timeout", "chroot", "xvfb-run", "caffeinate",
		"nix-shell", "flatpak", "npx", "pnpx", "bunx", "uvx", "xargs",
	}
	// containers have the commands run and exec, before whose command is the name of a container.
	containers = []string{"docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "lxc", "incus"}
	// finders are the options of find and fd before a command.
	finders = []string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"}
	// storing are programs that print, store, or compare their arguments, and have no option that takes a
	// command.
	storing = []string{
		"echo", ":", "true", "false", "cd", "pushd", "popd", "pwd", "exit", "return", "kill", "type", "which", "sleep", "seq", "date",
		"cat", "tee", "head", "tail", "wc", "cut", "tr", "uniq", "diff", "cmp", "comm", "join", "paste", "column", "fold", "fmt", "nl", "rev", "tac", "grep", "egrep", "fgrep",
		"mkdir", "rmdir", "touch", "cp", "mv", "rm", "ln", "ls", "stat", "chmod", "chown", "du", "df", "basename", "dirname", "realpath", "readlink",
		"base64", "md5sum", "sha1sum", "sha256sum", "sha512sum", "shasum", "od", "hexdump", "logger", "notify-send", "say", "figlet", "cowsay", "pbcopy", "wl-copy",
	}
	// ownCommands run only what the project defines with their command run.
	ownCommands = []string{"cargo", "go", "npm", "pnpm", "yarn", "dotnet", "swift", "flutter", "dart", "zig", "cabal", "gradle", "gradlew", "mix"}
	// direct run the command after their command exec, with no other word before it.
	direct = []string{"bundle", "npm", "pnpm", "yarn", "mise", "opam", "stack", "cabal", "dune", "rye", "hatch", "op", "doppler", "dotenvx"}
	// agents take a text for a model after their commands run and exec.
	agents = []string{"codex", "opencode", "goose", "cursor-agent"}
	// runWords are words after which a program can run another one.
	runWords = []string{"run", "x", "dlx", "foreach", "eval", "runner", "shell", "ssh"}
	// commandParts are the parts in the names of options that take a command.
	commandParts = []string{"run", "script", "hook", "rsh", "pager", "pre", "action", "pack", "expr", "expression", "extcmd", "scripts", "preview", "bind", "ldflags", "wrap"}
	// messages are options whose value a program prints or stores.
	messages = []string{"-m", "--message", "--msg", "--title", "--body", "--notes", "--description", "--desc", "--summary", "--comment", "--subject", "--text", "--label"}
	// valued are options that have a value, before the command that a program runs.
	valued = []string{
		"-C", "-a", "-e", "-f", "-g", "-l", "-n", "-p", "-s", "-u", "-v", "-w", "--add-host", "--app", "--config", "--container", "--context", "--cpus", "--cwd", "--device", "--directory",
		"--env", "--env-file", "--extra", "--file", "--gpus", "--group", "--hostname", "--index", "--label", "--memory", "--mount", "--name", "--namespace", "--network", "--package", "--platform",
		"--prefix", "--profile", "--project", "--project-name", "--publish", "--python", "--service", "--tmpfs", "--ulimit", "--user", "--volume", "--with", "--workdir",
	}
	wrapperValued = []string{"-u", "-g", "-C", "-a", "-k", "--user", "--group", "--signal", "--kill-after", "--adjustment", "--chdir", "--unset"}
	xargsValued   = []string{"-I", "-J", "-R", "-S", "-n", "-P", "-L", "-d", "-s", "-E", "-a", "--max-args", "--max-procs", "--max-lines", "--delimiter", "--arg-file"}
	// gitCommands and hubCommands are those of git, and of the programs for forges, without those that
	// run commands or store settings.
	gitCommands = []string{
		"add", "am", "apply", "blame", "branch", "checkout", "cherry-pick", "clean", "commit", "describe", "diff", "fetch", "for-each-ref", "grep", "init", "log", "ls-files", "merge",
		"merge-base", "mv", "notes", "pull", "push", "reset", "restore", "rev-list", "rev-parse", "revert", "rm", "shortlog", "show", "show-ref", "stash", "status", "switch", "tag", "worktree",
	}
	hubCommands = []string{"api", "browse", "gist", "issue", "label", "mr", "pr", "project", "release", "repo", "run", "search", "secret", "status", "variable", "workflow"}
)

// Lookup returns what copse knows about a program with a command, such as commit.
func Lookup(name, subcommand string) Program {
	switch {
	case slices.Contains(storing, name):
		return Program{Texts: true, Words: true, Input: true, letters: "ceEx"}
	case slices.Contains(wrappers, name):
		p := Program{Needs: 1, valued: wrapperValued}
		switch name {
		case "env":
			p.commands = "S"
		case "xargs":
			p.valued = xargsValued
		}
		return p
	}
	switch name {
	case "rg", "ag", "sort", "curl", "http", "https", "xh":
		return Program{Texts: true, Input: true, letters: "ceEx"}
	case "git":
		switch {
		case subcommand == "config user.name", subcommand == "config user.email":
			return Program{Texts: true, Commanded: true}
		case strings.HasPrefix(subcommand, "config"):
			return Program{Needs: never}
		}
		if slices.Contains(gitCommands, subcommand) {
			return Program{Texts: true, Input: true, letters: "ceEx", commands: "O", Commanded: true}
		}
	case "gh", "glab":
		if slices.Contains(hubCommands, subcommand) {
			return Program{Texts: true, Input: true, letters: "ceEx", Commanded: true}
		}
	case "find", "fd", "fdfind":
		return Program{Texts: true, Finds: true, letters: "ceE"}
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose", "buildah":
		return Program{Input: slices.Contains([]string{"login", "load", "import"}, subcommand), letters: "e", Options: []string{
			"-e", "--env", "--build-arg", "-l", "--label", "-t", "--tag", "-v", "--volume", "--mount", "-f", "--filter", "--format", "--name", "-w", "--workdir", "-p", "--publish",
		}}
	case "kubectl", "oc":
		return Program{Input: subcommand == "apply", letters: "c"}
	case "go":
		return Program{Options: []string{"-run", "-bench", "-fuzz", "-skip", "-tags"}}
	case "cargo":
		return Program{Options: []string{"-E", "--filter-expr", "--run-ignored"}, settings: []string{"--config"}}
	case "jq":
		return Program{Input: true, letters: "ceE"}
	case "pytest":
		return Program{letters: "ceEx"}
	case "scp", "sftp":
		return Program{commands: "S"}
	case "tcpdump":
		return Program{commands: "z"}
	case "latexmk":
		return Program{letters: "c"}
	case "yt-dlp", "youtube-dl":
		return Program{letters: "x"}
	case "tar":
		return Program{letters: "cx", commands: "IF"}
	case "cc", "gcc", "clang", "c++", "g++", "clang++":
		return Program{letters: "cEx"}
	case "man":
		return Program{commands: "PH"}
	case "gum":
		return Program{Texts: slices.Contains([]string{"confirm", "style", "log", "format", "input"}, subcommand)}
	case "zip":
		return Program{letters: "cex", commands: "T"}
	case "gzip", "gunzip", "unzip", "xz", "zstd", "openssl":
		return Program{Input: true, letters: "cex"}
	}
	return Program{}
}

// CommandAfter returns how many constant words follow a command of a program, such as run, before there
// can be a value: without them, the value is the command that the program runs.
func CommandAfter(program, text string) int {
	if slices.Contains([]string{".js", ".mjs", ".cjs", ".ts", ".py", ".rb", ".php", ".pl", ".sh"}, path.Ext(program)) {
		return 0 // the project's own
	}
	if slices.Contains(agents, program) {
		return 0
	}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("-_:", r) }) {
		switch {
		case part == "exec" && !slices.Contains(direct, program), part == "run" && strings.HasSuffix(program, "-compose"):
			return 2
		case part == "exec", slices.Contains(runWords, part) && !slices.Contains(ownCommands, program):
			return 1
		}
	}
	return 0
}

// Code reports whether the name of a file says that it is a program.
func Code(file string) bool {
	return slices.Contains([]string{".py", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".rb", ".pl", ".php", ".sh", ".exs", ".go", ".lua", ".jl", ".R", ".sbatch", ".slurm"}, path.Ext(file))
}

// TakesCommand reports whether the name of an option, or of a setting, says that its value is a command.
func TakesCommand(option string) bool {
	option = strings.ToLower(strings.Trim(option, "-="))
	contains := func(part string) bool { return strings.Contains(option, part) }
	parts := strings.FieldsFunc(option, func(r rune) bool { return strings.ContainsRune("-_.:", r) })
	if len(parts) > 0 && (parts[0] == "no" || parts[0] == "dry") {
		return false
	}
	return slices.ContainsFunc([]string{"exec", "eval", "cmd", "command", "shell", "editor", "program", "askpass", "rsync-path", "onerror", "onoutofmemory"}, contains) ||
		slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(commandParts, part) }) ||
		len(parts) > 1 && parts[len(parts)-1] == "filter"
}

// Valued reports whether an option before the command that the program runs has a value.
func (p Program) Valued(option string) bool {
	if p.valued != nil {
		return slices.Contains(p.valued, option)
	}
	return slices.Contains(valued, option)
}

// TakesCommand reports whether the value of an option is, or can be, a command. The value can be attached
// to the option.
func (p Program) TakesCommand(option string, attached bool) bool {
	if slices.Contains(p.settings, option) {
		return true
	}
	letters := strings.TrimPrefix(option, "-")
	if letters == "" || strings.HasPrefix(letters, "-") || len(letters) > 3 {
		return TakesCommand(option)
	}
	if !attached {
		letters = letters[len(letters)-1:] // the value belongs to the last one
	}
	return TakesCommand(option) || strings.ContainsFunc(letters, func(r rune) bool {
		return strings.ContainsRune("ceEx"+p.commands, r) && !strings.ContainsRune(p.letters, r)
	})
}

// Message reports whether a program prints or stores the value of an option.
func Message(option string) bool { return slices.Contains(messages, option) }

// Finder reports whether an option of find or fd has a command after it.
func Finder(option string) bool { return slices.Contains(finders, option) }

// Contains reports whether a program runs commands in containers.
func Contains(name string) bool { return slices.Contains(containers, name) }
