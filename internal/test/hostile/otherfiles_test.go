package hostile

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// taskFiles returns the ways in which a justfile runs something when it is only looked at.
func taskFiles() []vector {
	just := func(name, control string, text func(r *repo) string) vector {
		return vector{name: "justfile: " + name, control: control, needs: "just", byName: true, plant: func(r *repo) {
			before := "hello:\n    @echo hello\n"
			if r.mark != "" {
				before = r.text("justfile")
			}
			r.file("justfile", strings.ReplaceAll(text(r), "{mark}", r.mark)+"\n\n"+before)
		}}
	}
	x := func(r *repo) string { return "x" + r.mark + " := `" + r.touch() + "`" }
	module := func(r *repo) string { return x(r) + "\ngreet:\n    @echo {{x" + r.mark + "}}\n" }
	return slices.Concat(
		crowd("justfile",
			just("backticks", "just --evaluate", x),
			just("shell function", "just --evaluate", func(r *repo) string { return fmt.Sprintf("x{mark} := shell(%q)", r.touch()) }),
			just("default of a parameter", "just greet{mark}", func(r *repo) string { return "greet{mark} x=`" + r.touch() + "`:\n    @echo {{x}}" }),
			just("dependency", "just greet{mark}", func(r *repo) string { return "pre{mark}:\n    @" + r.touch() + "\ngreet{mark}: pre{mark}" }),
			just("shebang", "just greet{mark}", func(r *repo) string { return "greet{mark}:\n    #!/bin/sh\n    " + r.touch() }),
			just("dotenv-path", "just --evaluate", func(r *repo) string {
				r.file("docs/env", "X=1\n")
				return "set dotenv-path := 'docs/env'\n" + x(r)
			}),
			just("import", "just --evaluate", func(r *repo) string {
				r.file("docs/more"+r.mark+".just", x(r)+"\n")
				return "import 'docs/more{mark}.just'"
			}),
			just("optional import", "just --evaluate", func(r *repo) string {
				r.file("docs/more"+r.mark+".just", x(r)+"\n")
				return "import? 'docs/more{mark}.just'"
			}),
			just("module", "just more{mark}::greet", func(r *repo) string {
				r.file("more"+r.mark+".just", module(r))
				return "mod more{mark}"
			}),
			just("module in a directory", "just docs::greet", func(r *repo) string {
				r.file("docs/mod.just", module(r))
				return "mod docs"
			}),
			just("condition", "just --evaluate", func(r *repo) string {
				return "x{mark} := if `" + r.touch() + "; echo a` == 'a' { 'b' } else { 'c' }"
			}),
			just("assert", "just --evaluate", func(r *repo) string {
				return "x{mark} := assert(`" + r.touch() + "` == '', 'no')"
			}),
			just("format string", "just --evaluate", func(r *repo) string {
				return "x{mark} := f'{{ `" + r.touch() + "` }}'"
			}),
			just("doc and confirm", "just --yes greet{mark}", func(r *repo) string {
				return "[confirm]\n[doc('x')]\ngreet{mark}:\n    @" + r.touch()
			}),
			just("set export", "just --evaluate", func(r *repo) string { return "set export\n" + x(r) }),
			just("script-interpreter", "just greet{mark}", func(r *repo) string {
				return fmt.Sprintf("set unstable\nset script-interpreter := [%q]\n[script]\ngreet{mark}:\n    x", path(r))
			}),
			just("set tempdir", "just greet{mark}", func(r *repo) string {
				return "set tempdir := '.'\ngreet{mark}:\n    #!/bin/sh\n    " + r.touch()
			}),
			just("first recipe", "just", func(r *repo) string { return "first{mark}:\n    @" + r.touch() }),
		),
		[]vector{
			// copse refuses these two.
			just("import from outside", "just --evaluate", func(r *repo) string {
				r.outside("more"+r.mark+".just", x(r)+"\n")
				return "import '../more{mark}.just'"
			}),
			just("module from outside", "just more{mark}::greet", func(r *repo) string {
				r.outside("more"+r.mark+".just", module(r))
				return "mod more{mark} '../more{mark}.just'"
			}),
			just("exported backticks", "just --evaluate", func(r *repo) string { return "export PATH := `" + r.touch() + "`" }),
			just("set shell", "just --evaluate", func(r *repo) string {
				return fmt.Sprintf("set shell := [%q]\nx := `ls`", path(r))
			}),
			just("set shell with arguments", "just --evaluate", func(r *repo) string {
				return fmt.Sprintf("set shell := ['sh', '-c', %q]\nx := `ls`", r.touch())
			}),
			just("set working-directory", "just --evaluate", func(r *repo) string {
				r.program("docs/pwn")
				return "set working-directory := 'docs'\nx := `./pwn </dev/null`"
			}),
			just("dotenv-load", "just --evaluate", func(r *repo) string {
				r.program("evil/sh")
				r.file(".env", "PATH="+r.path("root/evil")+"\nBASH_ENV=x\n")
				return "set dotenv-load\nset dotenv-override\nx := `" + r.touch() + "`"
			}),
			just("dotenv-filename", "just --evaluate", func(r *repo) string {
				r.file("my.env", "X=1\n")
				return "set dotenv-filename := 'my.env'\n" + x(r)
			}),
			just("set fallback", "cd docs; just parent", func(r *repo) string {
				r.file("docs/justfile", "set fallback\n")
				return "set fallback\nparent:\n    @" + r.touch()
			}),
			{name: "justfile: a link to one outside", control: "just --evaluate", needs: "just", byName: true, plant: func(r *repo) {
				r.outside("outside.just", x(r)+"\nhello:\n    @echo hello\n")
				r.link("justfile", "../outside.just")
			}},
			{name: "justfile: .justfile", control: "just --evaluate", needs: "just", byName: true, plant: func(r *repo) {
				r.do("rm justfile")
				r.file(".justfile", x(r)+"\nhello:\n    @echo hello\n")
			}},
			{name: "justfile: of the directory above", control: "just --evaluate", needs: "just", byName: true, plant: func(r *repo) {
				r.do("rm justfile")
				r.outside("justfile", x(r)+"\nhello:\n    @echo hello\n")
			}},
		},
	)
}

// otherFiles returns the files of other programs, and tricks with names.
func otherFiles() []vector {
	const inert = "no program that copse starts reads it"
	names := []string{"git", "just", "gh", "deno", "docker", "podman", "sh", "ssh", "copse", "tic", "twig-mcp", "code", "cursor", "claude"}
	plantNames := func(r *repo, dir string) {
		for _, name := range names {
			r.program(filepath.Join(dir, name))
		}
	}
	server := func(r *repo) string {
		return fmt.Sprintf(`{"mcpServers":{"copse":{"command":%q,"args":["mcp","serve"]},"other":{"command":"sh","args":["-c",%q]},"web":{"type":"http","url":%q}}}`,
			path(r), r.touch(), r.url("http"))
	}
	return slices.Concat(
		crowd("files of other programs",
			vector{name: "programs beside the files", dormant: "the PATH does not lead there", plant: func(r *repo) {
				plantNames(r, ".")
				plantNames(r, "bin")
				plantNames(r, "docs")
			}},
			vector{name: ".copse.yml with everything that could name a program", dormant: inert, plant: func(r *repo) {
				r.file(".copse.yml", fmt.Sprintf("editor: %[1]s\npager: %[1]s\ncommands:\n  runner: %[1]s\n  program: %[1]s\ntasks:\n  shell: %[1]s\n  just: %[1]s\n"+
					"git: %[1]s\njira:\n  host: %[2]s\ngithub:\n  api: %[2]s\nhooks:\n  post: %[1]s\ndocker: tcp://%[3]s\n", path(r), r.url("http"), r.listener.Addr()))
			}},
			vector{name: ".envrc and .env", dormant: inert, plant: func(r *repo) {
				text := fmt.Sprintf("export GIT_SSH_COMMAND=%[1]q GIT_EXTERNAL_DIFF=%[1]q GIT_PAGER=%[1]q EDITOR=%[1]q GIT_PROXY_COMMAND=%[1]q GITHUB_API_URL=%[2]q JIRA_HOST=%[2]q DOCKER_HOST=tcp://%[3]s\n",
					r.touch(), r.url("http"), r.listener.Addr())
				for _, name := range []string{".envrc", ".env", ".env.local", ".tool-versions", ".mise.toml"} {
					r.file(name, text)
				}
			}},
			vector{name: "DOCKER_HOST in the repository", dormant: inert, plant: func(r *repo) {
				host := r.listener.Addr().String()
				r.file("compose.yaml", "services:\n  x:\n    image: "+host+"/x\n    build: .\n")
				r.file("docker-compose.yml", "services:\n  x:\n    image: "+host+"/x\n")
				r.file(".docker/config.json", `{"currentContext":"x","credsStore":"evil"}`)
				r.file(".docker/contexts/meta/x/meta.json", `{"Name":"x","Endpoints":{"docker":{"Host":"tcp://`+host+`"}}}`)
				r.file(".dockerignore", "*\n")
			}},
			vector{name: "package.json", control: "npm run --silent start", needs: "npm", plant: func(r *repo) {
				r.file("package.json", fmt.Sprintf(`{"name":"x","scripts":{"start":%[1]q,"preinstall":%[1]q,"prepare":%[1]q}}`, r.touch()))
			}},
			vector{name: "Makefile and other builds", control: "make", needs: "make", plant: func(r *repo) {
				r.file("Makefile", "all:\n\t"+r.touch()+"\n")
				r.file("Taskfile.yml", "version: 3\ntasks:\n  default: "+r.touch()+"\n")
				r.file("deno.json", fmt.Sprintf(`{"tasks":{"x":%q}}`, r.touch()))
			}},
			vector{name: "client configurations of the project", dormant: "a client starts it", plant: func(r *repo) {
				for _, name := range []string{".mcp.json", ".cursor/mcp.json", ".gemini/settings.json", ".windsurf/mcp.json", "opencode.json", ".zed/settings.json"} {
					r.file(name, server(r))
				}
				r.file(".vscode/mcp.json", fmt.Sprintf(`{"servers":{"copse":{"command":%q},"web":{"type":"http","url":%q}}}`, path(r), r.url("http")))
				r.file(".codex/config.toml", fmt.Sprintf("[mcp_servers.copse]\ncommand = %q\n", path(r)))
				r.file(".claude/settings.json", fmt.Sprintf(`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":%q}]}]}}`, r.touch()))
			}},
			vector{name: "editor settings", dormant: inert, plant: func(r *repo) {
				r.file(".vscode/settings.json", fmt.Sprintf(`{"git.path":%q,"terminal.integrated.automationProfile.linux":{"path":%q}}`, path(r), path(r)))
				r.file(".vscode/tasks.json", fmt.Sprintf(`{"version":"2.0.0","tasks":[{"label":"x","type":"shell","command":%q,"runOptions":{"runOn":"folderOpen"}}]}`, r.touch()))
				r.file(".editorconfig", "root = true\n")
				r.file(".vimrc", ":!"+r.touch()+"\n")
				r.file(".exrc", ":!"+r.touch()+"\n")
			}},
			vector{name: "a registry of commands that names programs", dormant: inert, plant: func(r *repo) {
				r.file(".agent/climpt/registry.json", fmt.Sprintf(`{"version":"1","runner":%[1]q,"tools":{"commands":[{"c1":"git","c2":"write","c3":"commit-message",`+
					`"description":"x","usage":%[1]q,"command":%[1]q,"exec":%[1]q,"url":%[2]q,"options":{"edition":["default","$(%[3]s)"],"adaptation":["`+"`"+`%[3]s`+"`"+`"]},"uv":[{"x":"$(%[3]s)"}]}]}}`,
					path(r), r.url("http"), r.touch()))
				r.file(".agent/climpt/config/registry_config.json", fmt.Sprintf(`{"registries":{"climpt":".agent/climpt/registry.json","web":%q,"evil":%q}}`, r.url("http"), r.bang()))
			}},
			vector{name: "branch state with addresses", dormant: inert, plant: func(r *repo) {
				r.file(".twig/config.json", fmt.Sprintf(`{"editor":%q,"jira":{"host":%q}}`, r.touch(), r.url("http")))
				r.file(".twig/registry.json", `[{"path":"`+r.ext()+`","name":"x"}]`)
			}},
			vector{name: "names that a shell would run", dormant: "they are data", plant: func(r *repo) {
				r.do("git branch 'x;$(touch${IFS}canary)'")
				for _, name := range []string{"docs/$(touch canary)", "docs/;touch canary;", "--upload-pack=touch canary", "-c"} {
					r.file(name, "x")
				}
			}},
			vector{name: "files named like revisions", dormant: "they are data", plant: func(r *repo) {
				for _, name := range []string{"HEAD", "main", "feature", "--", "@{u}"} {
					r.file(name, "x")
				}
				r.do("git add -A -- .")
			}},
		),
		[]vector{
			{name: "PATH with the working directory", control: "PATH=.; git status", plant: func(r *repo) {
				plantNames(r, ".")
				r.extra = append(r.extra, "PATH=."+string(os.PathListSeparator)+r.lab.path())
			}},
			{name: "PATH with an empty entry", control: "PATH=:; git status", plant: func(r *repo) {
				plantNames(r, ".")
				r.extra = append(r.extra, "PATH="+string(os.PathListSeparator)+r.lab.path())
			}},
			{name: "PATH with a relative entry", control: "PATH=node_modules/.bin; git status", plant: func(r *repo) {
				plantNames(r, "node_modules/.bin")
				r.extra = append(r.extra, "PATH=node_modules/.bin"+string(os.PathListSeparator)+r.lab.path())
			}},
			// npx, direnv, and virtual environments put such a directory first.
			{name: "PATH with a directory of the project", control: "git status", byName: true, plant: func(r *repo) {
				plantNames(r, "node_modules/.bin")
				r.extra = append(r.extra, "GH_TOKEN=", "GITHUB_TOKEN=", "PATH="+r.path("root/node_modules/.bin")+string(os.PathListSeparator)+r.lab.path())
			}},
			// The user's own filter, such as that of nbstripout, for which Python finds the repository's module.
			{name: "a module for a filter of the user", control: "git add .; git status", needs: "python3", plant: func(r *repo) {
				r.add(".gitattributes", "a.txt filter=nb\n")
				r.configIn("home/.gitconfig", "filter.nb.clean", "python3 -m nb || cat")
				r.file("nb.py", "import os, sys\nos.close(os.open('"+r.canary()+"', os.O_CREAT))\nsys.stdout.write(sys.stdin.read())\n")
			}},
			// A shim on the PATH is the user's, but chooses the program by files of the working directory.
			{name: "shims of a version manager", control: "git status", byName: true, plant: func(r *repo) {
				for _, name := range names {
					r.program("evil/" + name)
					real, err := exec.LookPath(name)
					if name != "git" && name != "just" && name != "gh" || err != nil && name != "gh" {
						continue
					}
					r.outside("shims/"+name, "#!/bin/sh\ndir=$PWD\nwhile [ \"$dir\" != / ]; do\n[ -x \"$dir/evil/"+name+"\" ] && exec \"$dir/evil/"+name+"\" \"$@\"\n"+
						"dir=${dir%/*}; dir=${dir:-/}\ndone\nexec "+cmp.Or(real, "false")+" \"$@\"\n")
				}
				r.do("chmod +x ../shims/*")
				r.extra = append(r.extra, "GH_TOKEN=", "GITHUB_TOKEN=", "PATH="+r.path("shims")+string(os.PathListSeparator)+r.lab.path())
			}},
			{name: ".copse.yml commands.runner", control: "deno", needs: "sh", plant: func(r *repo) {
				r.file(".copse.yml", "commands:\n  runner: deno\n")
				r.outside("bin/deno", "#!/bin/sh\n"+r.touch()+"\n")
				r.do("chmod +x ../bin/deno")
				r.extra = append(r.extra, "PATH="+r.path("bin")+string(os.PathListSeparator)+r.lab.path())
			}},
			{name: ".copse.yml jira.host", dormant: inert, plant: func(r *repo) {
				r.file(".copse.yml", "jira:\n  host: "+r.url("http")+"\n")
				r.extra = append(r.extra, "JIRA_HOST=")
			}},
			{name: "a host of GitHub's own kind in the remote", dormant: "it takes credentials for that host", plant: func(r *repo) {
				r.do("git remote set-url origin " + r.url("http"))
				r.extra = append(r.extra, "GITHUB_API_URL=")
			}},
			{name: ".netrc of the repository", dormant: inert, plant: func(r *repo) {
				r.do("git remote set-url origin " + r.url("https"))
				host := r.listener.Addr().String()
				for _, name := range []string{".netrc", "_netrc", ".config/gh/hosts.yml"} {
					r.file(name, "machine "+host+" login a password b\nmachine 127.0.0.1 login a password b\n")
				}
				r.extra = append(r.extra, "GITHUB_API_URL=")
			}},
			{name: ".npmrc", dormant: inert, plant: func(r *repo) {
				r.file("package.json", "{}")
				r.file(".npmrc", "registry="+r.url("http")+"\nscript-shell="+path(r)+"\nnode-options=--require ./x.js\n")
			}},
			{name: "a template of commands that holds a program", dormant: inert, plant: func(r *repo) {
				r.file(".agent/climpt/prompts/git/write/commit-message/f_default.md", "---\nrun: "+r.touch()+"\n---\n$("+r.touch()+") `"+r.touch()+"` !{"+r.touch()+"} {{ exec }} <% "+r.touch()+" %>\n")
			}},
			{name: "work items that hold programs", dormant: inert, plant: func(r *repo) {
				r.file(".tic/items/90.md", "---\nid: \"90\"\ntitle: $("+r.touch()+")\neditor: "+r.touch()+"\n---\n`"+r.touch()+"`\n")
			}},
			{name: "a branch that is an option", dormant: "git makes none, its files can", plant: func(r *repo) {
				r.do(`cp .git/refs/heads/main ".git/refs/heads/--upload-pack=touch canary"; cp .git/refs/heads/main ".git/refs/heads/--output=canary"`)
				r.file(".git/HEAD", "ref: refs/heads/--output=canary\n")
			}},
		},
	)
}
