package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/session/service"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/wiring/entries"
	"github.com/copse-dev/copse/internal/wiring/servers"
	"github.com/copse-dev/copse/internal/wiring/workspace"
	"github.com/copse-dev/copse/internal/xec"
)

// patient is what is examined.
type patient struct {
	env    app.Env
	here   *workspace.Workspace
	online bool
}

// checks are the links in order.
func checks(ctx context.Context, env app.Env, repo string, online bool) []check {
	p := patient{env: env, here: workspace.Here(ctx, env, repo), online: online}
	return []check{
		{"program", p.program}, {"handshake", p.handshake}, {"clients", p.clients}, {"settings", p.settings}, {"git", p.git}, {"branch state", p.state},
		{"GitHub", p.github}, {"Jira", p.jira}, {"work items", p.items}, {"commands", p.commands}, {"tasks", p.tasks},
		{"containers", p.containers}, {"copse up", p.up},
	}
}

// program looks whether clients find copse.
func (p patient) program(context.Context) finding {
	self, err := os.Executable()
	if err != nil {
		return finding{Verdict: bad, Text: "where this program is cannot be told: " + err.Error()}
	}
	found, err := xec.Env(p.env.Environ).LookPath("copse")
	if err != nil {
		return finding{
			Verdict: bad, Text: fmt.Sprintf("copse %s is %s, which is not on the PATH", app.Version(), self),
			Remedy: "Clients that start it by its name do not find it: add its folder to the PATH, or use `copse mcp install`, which writes the whole path.",
		}
	}
	if a, b := real(found), real(self); a != b {
		return finding{Verdict: bad, Text: fmt.Sprintf("the PATH has another copse, %s, before this one, %s", found, self), Remedy: "Remove one of them."}
	}
	return finding{Verdict: good, Text: fmt.Sprintf("copse %s at %s", app.Version(), found)}
}

func real(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// greeting is what a client says first.
const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"doctor","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// handshake starts the server as a client does.
func (p patient) handshake(ctx context.Context) finding {
	self, err := os.Executable()
	if err != nil {
		return finding{Verdict: bad, Text: err.Error()}
	}
	res, err := xec.Run(ctx, xec.Command{
		Name: self, Args: []string{"mcp", "serve"}, Dir: p.here.Dir, Env: xec.Env(p.env.Environ), Stdin: []byte(greeting),
	})
	if err != nil {
		return finding{Verdict: bad, Text: "the server does not start: " + cleantext.Line(err.Error())}
	}
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	for line := range strings.Lines(string(res.Stdout)) {
		if json.Unmarshal([]byte(line), &answer) == nil && len(answer.Result.Tools) > 0 {
			return finding{Verdict: good, Text: fmt.Sprintf("`copse mcp serve` answers with %d tools", len(answer.Result.Tools))}
		}
	}
	return finding{Verdict: bad, Text: "`copse mcp serve` gives no list of tools: " + cleantext.Cut(cleantext.Line(string(res.Stderr)), 200)}
}

// clients looks for copse in the configurations.
func (p patient) clients(ctx context.Context) finding {
	files, err := servers.Places(p.env)
	if err != nil {
		return finding{Verdict: bad, Text: err.Error()}
	}
	var running *control.Status
	if status, err := control.NewClient(files.Runtime).Status(ctx); err == nil {
		running = &status
	}
	checker := entries.New(files, running)
	var uses, wrong []string
	for _, f := range entries.Files(entries.Place(p.env, p.here.Workspace())) {
		if f.Err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", f.Path, f.Err))
			continue
		}
		for _, e := range f.Entries {
			problem, ours := checker.Entry(ctx, e)
			if ours && e.Token != "" && f.Exposed {
				wrong = append(wrong, f.Readable())
			}
			if !ours {
				problem, ours = p.starts(e.Server)
			}
			if ours && problem != "" {
				wrong = append(wrong, fmt.Sprintf("%s: %s %s", f.Path, e.Name, problem))
			} else if ours {
				uses = append(uses, fmt.Sprintf("%s (%s)", f.Client.Title, f.Scope))
			}
		}
	}
	slices.Sort(wrong)
	switch wrong, uses = slices.Compact(wrong), slices.Compact(uses); {
	case len(wrong) > 0:
		return finding{Verdict: bad, Text: strings.Join(wrong, "; "), Remedy: "`copse mcp install --client …` writes it anew."}
	case len(uses) == 0:
		return finding{Verdict: absent, Text: "no client is told of copse", Remedy: "`copse mcp install --client …` does it: " + strings.Join(clientconfig.IDs(), ", ") + "."}
	}
	return finding{Verdict: good, Text: strings.Join(uses, ", ")}
}

// starts looks at an entry that starts a program; it is ours if that is copse.
func (p patient) starts(s clientconfig.Server) (problem string, ours bool) {
	base := strings.TrimSuffix(filepath.Base(s.Command), ".exe")
	if base != "copse" && base != "twig-mcp" && base != "tic" {
		return "", false
	}
	if _, err := xec.Env(p.env.Environ).LookPath(s.Command); err != nil {
		return "starts " + s.Command + ", which is not there", true
	}
	return "", true
}

// settings looks for what copse ignores in the files of the user and the repository.
func (p patient) settings(context.Context) finding {
	file := p.env.SettingsFile()
	if problems := p.here.Settings.Problems(); len(problems) > 0 {
		return finding{Verdict: bad, Text: cleantext.Line(strings.Join(problems, "; ")), Remedy: "Correct the file, or remove the key."}
	}
	return finding{Verdict: good, Text: "your settings are in " + file}
}

func (p patient) git(ctx context.Context) finding {
	res, err := xec.Run(ctx, xec.Command{Name: "git", Args: []string{"version"}, Env: xec.Env(p.env.Environ)})
	if err != nil {
		return finding{Verdict: bad, Text: "git does not run: " + cleantext.Line(err.Error()), Remedy: "Install git 2.36 or newer."}
	}
	version := strings.TrimPrefix(cleantext.Line(strings.TrimSpace(string(res.Stdout))), "git version ")
	repo, err := p.here.Session.Repo(ctx)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return finding{Verdict: absent, Text: fmt.Sprintf("git %s; %s is in no repository", version, p.here.Dir), Remedy: "Go to one, or pass --repo."}
	case err != nil:
		return finding{Verdict: bad, Text: cleantext.Line(err.Error())}
	}
	if _, err := repo.Status(ctx); err != nil && !errors.Is(err, git.ErrBare) {
		return finding{Verdict: bad, Text: cleantext.Line(err.Error()), Remedy: "Check that `git status` works."}
	}
	return finding{Verdict: good, Text: fmt.Sprintf("git %s, repository %s", version, p.here.Workspace())}
}

func (p patient) state(ctx context.Context) finding {
	state, err := p.here.Branches.State(ctx)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return finding{Verdict: absent, Text: "no repository"}
	case errors.Is(err, twig.ErrNoState):
		return finding{Verdict: absent, Text: "no .twig/state.json: stacks and links of branches are not known"}
	case err != nil:
		return finding{Verdict: bad, Text: cleantext.Line(err.Error()), Remedy: "Correct the file, or restore it from a backup."}
	}
	return finding{Verdict: good, Text: fmt.Sprintf("%d branches with links", len(state.Branches))}
}

func (p patient) github(ctx context.Context) finding {
	origin, err := p.here.Pulls.Repository(ctx, "")
	if err != nil {
		return finding{Verdict: absent, Text: p.message(err)}
	}
	login, err := wiring.Finder(p.env).GitHub(ctx, origin.Host)
	if missing, ok := errors.AsType[*credential.MissingError](err); ok {
		return finding{
			Verdict: bad, Text: fmt.Sprintf("no credentials for %s; looked at %s", origin.Host, strings.Join(missing.Tried, ", ")),
			Remedy: "Log in with `gh auth login`, or add the machine to ~/.netrc.",
		}
	}
	if err != nil {
		return finding{Verdict: bad, Text: cleantext.Line(err.Error())}
	}
	text := fmt.Sprintf("%s, with %s", origin, login.Source)
	if !p.online {
		return finding{Verdict: good, Text: text + " (not asked; --online does)"}
	}
	if _, err := p.here.Pulls.List(ctx, origin, github.Open, github.Cursor{}, 1); err != nil {
		return finding{Verdict: bad, Text: text + ": " + p.message(err), Remedy: failure.Of(err).Hint(p.here.Words)}
	}
	return finding{Verdict: good, Text: text + ", which GitHub takes"}
}

// message returns what an error says in copse's words.
func (p patient) message(err error) string { return failure.Of(err).Message(p.here.Words) }

func (p patient) jira(ctx context.Context) finding {
	raw, err := service.JiraHost(p.env.Getenv, p.here.Settings.User)
	if err != nil {
		return finding{Verdict: bad, Text: cleantext.Line(err.Error())}
	}
	if raw == "" {
		return finding{Verdict: absent, Text: "neither JIRA_HOST nor jira.host in your settings is set"}
	}
	host, err := jira.ParseHost(raw)
	if err != nil {
		return finding{Verdict: bad, Text: err.Error()}
	}
	login, err := wiring.Finder(p.env).Jira(ctx, host.Machines())
	if missing, ok := errors.AsType[*credential.MissingError](err); ok {
		return finding{
			Verdict: bad, Text: fmt.Sprintf("no credentials for %s; looked at %s", missing.Host, strings.Join(missing.Tried, ", ")),
			Remedy: "Add the machine to ~/.netrc, with the login and an API token.",
		}
	}
	if err != nil {
		return finding{Verdict: bad, Text: cleantext.Line(err.Error())}
	}
	text := fmt.Sprintf("%s, with %s", host.URL(), login.Source)
	if !p.online {
		return finding{Verdict: good, Text: text + " (not asked; --online does)"}
	}
	key, err := p.here.Branches.LinkedIssue(ctx)
	if err != nil {
		return finding{Verdict: good, Text: text + " (not asked: no issue is linked to the branch)"}
	}
	if _, err := p.here.Issues.Get(ctx, key); err != nil {
		return finding{Verdict: bad, Text: text + ": " + p.message(err), Remedy: failure.Of(err).Hint(p.here.Words)}
	}
	return finding{Verdict: good, Text: text + ", which Jira takes"}
}

func (p patient) items(ctx context.Context) finding {
	store := p.here.Items()
	defer store.Close()
	all, err := store.Snapshot(ctx)
	switch {
	case errors.Is(err, item.ErrNoProject):
		return finding{Verdict: absent, Text: "no .tic folder", Remedy: "`tic init` makes one."}
	case err != nil:
		return finding{Verdict: bad, Text: cleantext.Line(err.Error()), Remedy: "`tic doctor` tells more."}
	case len(all.Warnings) > 0:
		return finding{Verdict: bad, Text: fmt.Sprintf("%d items, %d problems", all.Len(), len(all.Warnings)), Remedy: "`tic doctor` names them."}
	}
	return finding{Verdict: good, Text: fmt.Sprintf("%d items", all.Len())}
}

func (p patient) commands(context.Context) finding {
	lib, _ := p.here.Commands()
	catalog, err := lib.Open(library.DefaultAgent)
	if unread, ok := errors.AsType[*library.LoadError](err); ok {
		if unread.Details() == "File not found" {
			return finding{Verdict: absent, Text: "no registry of prompt commands", Remedy: "`copse command init` makes one."}
		}
		return finding{Verdict: bad, Text: unread.Path + ": " + unread.Details(), Remedy: "`copse command index` writes it anew."}
	}
	if err != nil {
		return finding{Verdict: bad, Text: cleantext.Line(err.Error())}
	}
	return finding{Verdict: good, Text: fmt.Sprintf("%d prompt commands in %s", len(catalog.Commands), catalog.Path)}
}

func (p patient) tasks(ctx context.Context) finding {
	tasks := p.here.Tasks()
	defer tasks.Close()
	list, err := tasks.Recipes(ctx)
	if _, missing := errors.AsType[recipe.MissingError](err); missing {
		return finding{Verdict: absent, Text: "no justfile"}
	}
	if err != nil {
		return finding{Verdict: bad, Text: cleantext.Line(err.Error())}
	}
	return finding{Verdict: good, Text: fmt.Sprintf("%d tasks", len(list))}
}

func (p patient) containers(ctx context.Context) finding {
	engine := docker.New(docker.Options{Getenv: p.env.Getenv, Home: p.env.Home(), GOOS: p.env.GOOS})
	list, err := engine.Containers(ctx, p.here.Workspace())
	switch {
	case errors.Is(err, docker.ErrNoEngine):
		return finding{Verdict: absent, Text: err.Error()}
	case err != nil:
		return finding{Verdict: bad, Text: err.Error(), Remedy: "Start the engine, or correct DOCKER_HOST."}
	}
	return finding{Verdict: good, Text: fmt.Sprintf("%d containers", len(list))}
}

func (p patient) up(ctx context.Context) finding {
	files, err := servers.Places(p.env)
	if err != nil {
		return finding{Verdict: bad, Text: err.Error()}
	}
	status, err := control.NewClient(files.Runtime).Status(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return finding{Verdict: absent, Text: "it does not run"}
	}
	if err != nil {
		return finding{Verdict: bad, Text: cleantext.Line(err.Error())}
	}
	for _, w := range status.Worktrees {
		if w.TokenFile == "" {
			continue
		}
		if _, err := bearer.New(w.TokenFile).Token(ctx); err != nil {
			return finding{Verdict: bad, Text: err.Error()}
		}
	}
	for _, w := range status.Worktrees {
		if w.MCP.LastError != "" {
			return finding{Verdict: bad, Text: w.Path + ": " + w.MCP.LastError}
		}
	}
	return finding{Verdict: good, Text: fmt.Sprintf("%d worktrees are served", len(status.Worktrees))}
}
