package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git/ownpath"

	"github.com/copse-dev/copse/internal/bearer"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/github/rest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/describe"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/session/service"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/workflow/cliententries"
	"github.com/copse-dev/copse/internal/xec"
)

// program checks whether clients find copse.
func (d *Doctor) program(context.Context) Finding {
	self := d.Executable
	found, err := d.Environ.LookPath("copse")
	if err != nil {
		return Finding{
			Verdict: Failed, Text: fmt.Sprintf("copse %s is at %s, which is not on the PATH", d.Version, self),
			Remedy: "Clients that start copse by name do not find it. Add its directory to the PATH, or run `" + d.Words.Install + "`, which writes the full path.",
		}
	}
	if a, b := real(found), real(self); a != b && !launches(a, b) {
		return Finding{Verdict: Failed, Text: fmt.Sprintf("the PATH has another copse, %s, before this one, %s", found, self), Remedy: "Remove one of them."}
	}
	return Finding{Verdict: OK, Text: fmt.Sprintf("copse %s at %s", d.Version, found)}
}

func real(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// handshake starts the server as a client does.
func (d *Doctor) handshake(ctx context.Context) Finding {
	tools, err := greet(ctx, xec.Command{Name: d.Executable, Args: []string{"mcp", "serve"}, Dir: d.Worktree.Dir, Env: d.Environ})
	if err != nil {
		return Finding{Verdict: Failed, Text: "`copse mcp serve` does not answer: " + cleantext.Line(err.Error())}
	}
	return Finding{Verdict: OK, Text: "`copse mcp serve` offers " + cleantext.Count(tools, "tool")}
}

// clients checks the configurations for entries of copse.
func (d *Doctor) clients(ctx context.Context) Finding {
	var running *control.Status
	if status, err := d.Status(ctx); err == nil {
		running = &status
	}
	checker, servers := cliententries.New(d.Ports, d.Tokens, running), newStarter(greet)
	var uses, wrong []string
	for _, f := range cliententries.Files(d.Clients) {
		if f.Err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %v", f.Path, f.Err))
			continue
		}
		for _, e := range f.Entries {
			problem, ours := d.entry(ctx, servers, f, e, checker)
			if ours && e.Token != "" && f.Exposed {
				wrong = append(wrong, f.Readable())
			}
			if ours && problem != "" {
				wrong = append(wrong, fmt.Sprintf("%s: %s %s", f.Path, e.Name, problem))
			} else if ours && !f.InProject(e.Name) {
				uses = append(uses, fmt.Sprintf("%s (%s)", f.Client.Title, f.Scope))
			}
		}
	}
	slices.Sort(wrong)
	switch wrong, uses = slices.Compact(wrong), slices.Compact(uses); {
	case len(wrong) > 0:
		return Finding{Verdict: Failed, Text: strings.Join(wrong, "; "), Remedy: "To correct an entry of copse, run `" + d.Words.Install + " --client NAME`."}
	case len(uses) == 0:
		return Finding{Verdict: None, Text: "no MCP client is configured", Remedy: "Run `" + d.Words.Install + " --client NAME` with one of " + strings.Join(clientconfig.IDs(), ", ") + "."}
	}
	return Finding{Verdict: OK, Text: strings.Join(uses, ", ")}
}

// entry checks an entry as its client reads it; it is ours if it leads to copse.
func (d *Doctor) entry(ctx context.Context, servers *starter, f cliententries.File, e clientconfig.Named, checker *cliententries.Checker) (problem string, ours bool) {
	read := f.Client.Expanded(d.Environ, d.Worktree.Workspace(), d.Clients.Home, e)
	problem, served := checker.Entry(ctx, f.Scope, read)
	switch {
	case !served && !read.IsCopse():
		return "", false
	case f.InProject(e.Name):
		return "", true
	case f.Untrusted:
		return fmt.Sprintf("is not used, because %s does not trust this project; start %s here once and trust it", f.Client.Title, f.Client.Title), true
	case e.Refused != "":
		return e.Refused, true
	case served && problem == "" && !checker.Serves(read):
		return "points to a server of copse up that is not running; start it with `copse up`", true
	case served:
		return problem, true
	}
	return d.starts(ctx, servers, f, e, read), true
}

// settings checks the files of the user and the repository for ignored keys.
func (d *Doctor) settings(context.Context) Finding {
	if problems := d.Settings.Problems(); len(problems) > 0 {
		return Finding{Verdict: Failed, Text: cleantext.Line(strings.Join(problems, "; ")), Remedy: "Correct the file, or remove the key."}
	}
	if _, err := os.Stat(d.SettingsFile); errors.Is(err, fs.ErrNotExist) {
		text := "no settings file; the defaults apply"
		if d.SettingsFile != "" {
			text += " (" + d.SettingsFile + ")"
		}
		return Finding{Verdict: OK, Text: text}
	}
	return Finding{Verdict: OK, Text: "your settings are in " + d.SettingsFile}
}

func (d *Doctor) git(ctx context.Context) Finding {
	res, err := xec.Run(ctx, xec.Command{Name: "git", Args: []string{"version"}, Env: ownpath.Without(d.Environ, d.Worktree.Dir)})
	if err != nil {
		return Finding{Verdict: Failed, Text: "git does not run: " + cleantext.Line(err.Error()), Remedy: "Install git 2.36 or later."}
	}
	version := strings.TrimPrefix(cleantext.Line(strings.TrimSpace(string(res.Stdout))), "git version ")
	repo, err := d.Session.Repo(ctx)
	_, unnamed := errors.AsType[*git.UnnamedError](err)
	switch {
	case unnamed:
		return Finding{
			Verdict: None, Text: fmt.Sprintf("git %s; %s", version, failure.Of(err).Message(d.Words.Errors)), Remedy: failure.Of(err).Hint(d.Words.Errors),
		}
	case errors.Is(err, git.ErrNotRepository):
		return Finding{Verdict: None, Text: fmt.Sprintf("git %s; %s is not in a git repository", version, d.Worktree.Dir), Remedy: "Run the command in a repository, or pass --repo."}
	case err != nil:
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error())}
	}
	if _, err := repo.Status(ctx); err != nil && !errors.Is(err, git.ErrBare) {
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error()), Remedy: "Check that `git status` works."}
	}
	return Finding{Verdict: OK, Text: fmt.Sprintf("git %s, repository %s", version, d.Worktree.Workspace())}
}

func (d *Doctor) state(ctx context.Context) Finding {
	state, err := d.Branches.Stacked(ctx)
	switch {
	case errors.Is(err, git.ErrNotRepository):
		return Finding{Verdict: None, Text: "not in a git repository"}
	case errors.Is(err, twig.ErrNoState):
		return Finding{Verdict: None, Text: "no branch is tracked", Remedy: "Run `" + d.Words.Errors.Track + "`."}
	case err != nil:
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error()), Remedy: "Correct the file, or restore it from a backup."}
	}
	if note := d.Branches.TwoStates(ctx); note != "" {
		return Finding{Verdict: Failed, Text: note}
	}
	names := 0
	if own, err := d.Branches.Session().View().State(ctx); err == nil {
		names = len(own.Names())
	}
	text := cleantext.Count(names, "tracked branch")
	var others distinct.List[string]
	parents := 0
	for _, dep := range state.Dependencies {
		if dep.Source != "" {
			others.Add(dep.Source)
			parents++
		}
	}
	if parents > 0 {
		text += fmt.Sprintf("; %s from %s", cleantext.Count(parents, "parent"), strings.Join(others.Values(), ", "))
	}
	if note := d.Branches.Note(ctx); note != "" {
		text += "; " + note
	}
	return Finding{Verdict: OK, Text: text}
}

func (d *Doctor) github(ctx context.Context) Finding {
	origin, err := d.Pulls.Repository(ctx, "")
	if err != nil {
		return Finding{Verdict: None, Text: d.message(err), Remedy: failure.Of(err).Hint(d.Words.Errors)}
	}
	login, err := d.Finder.GitHub(ctx, origin.Host)
	if missing, ok := errors.AsType[*credential.MissingError](err); ok {
		return Finding{
			Verdict: None, Text: fmt.Sprintf("no login for %s; copse checked %s", origin.Host, strings.Join(missing.Tried, ", ")),
			Remedy: "To see pull requests, log in with `gh auth login`, or add the host to ~/.netrc.",
		}
	}
	if err != nil {
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error())}
	}
	text := fmt.Sprintf("%s, with %s", origin, login.Source)
	if !d.Online {
		return Finding{Verdict: OK, Text: text + " (not tried; --online does)"}
	}
	if _, err := d.Pulls.List(ctx, origin, pullrequest.Open, rest.Cursor{}, 1); err != nil {
		return Finding{Verdict: Failed, Text: text + ": " + d.message(err), Remedy: failure.Of(err).Hint(d.Words.Errors)}
	}
	return Finding{Verdict: OK, Text: text + ", accepted by GitHub"}
}

// message returns what an error says in copse's words.
func (d *Doctor) message(err error) string { return failure.Of(err).Message(d.Words.Errors) }

func (d *Doctor) jira(ctx context.Context) Finding {
	raw, err := service.JiraHost(d.Getenv, d.Settings.User)
	if err != nil {
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error())}
	}
	if raw == "" {
		return Finding{Verdict: None, Text: "no Jira host is set", Remedy: "To see issues, set JIRA_HOST, or jira.host in your settings."}
	}
	host, err := jira.ParseHost(raw)
	if err != nil {
		return Finding{Verdict: Failed, Text: err.Error()}
	}
	login, err := d.Finder.Jira(ctx, host.Machines(), host.Atlassian())
	if missing, ok := errors.AsType[*credential.MissingError](err); ok {
		text := fmt.Sprintf("no login for %s; copse checked %s", missing.Host, strings.Join(missing.Tried, ", "))
		if missing.Half != "" {
			return Finding{Verdict: Failed, Text: text, Remedy: missing.Half + ": set it, too, or unset the other one."}
		}
		return Finding{
			Verdict: None, Text: text,
			Remedy: "To see issues, set JIRA_EMAIL and JIRA_TOKEN, or JIRA_PAT, or add the host to ~/.netrc.",
		}
	}
	if err != nil {
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error())}
	}
	text := fmt.Sprintf("%s, with %s", host.URL(), login.Source)
	if !d.Online {
		return Finding{Verdict: OK, Text: text + " (not tried; --online does)"}
	}
	key, err := d.Branches.LinkedIssue(ctx)
	if err != nil {
		return Finding{Verdict: OK, Text: text + " (not tried: no issue is linked to the branch)"}
	}
	if _, err := d.Issues.Get(ctx, key); err != nil {
		return Finding{Verdict: Failed, Text: text + ": " + d.message(err), Remedy: failure.Of(err).Hint(d.Words.Errors)}
	}
	return Finding{Verdict: OK, Text: text + ", accepted by Jira"}
}

// described is a store of work items that describes itself, such as a database.
type described interface {
	Describe(ctx context.Context) (describe.Database, error)
}

func (d *Doctor) items(ctx context.Context) Finding {
	store := d.Items()
	defer store.Close()
	all, err := store.Snapshot(ctx)
	var config item.Config
	if err == nil {
		config, err = store.Config(ctx)
	}
	project, missing := errors.AsType[*storage.NoProjectError](err)
	var badConfig *storage.ConfigError
	where := ""
	if database, ok := store.(described); ok && (err == nil || missing) {
		if what, err := database.Describe(ctx); err == nil {
			where = " in a database; " + strings.Join(what.Lines(), "; ")
		}
	}
	switch {
	case missing:
		return Finding{Verdict: None, Text: cleantext.Line(project.Error()) + where, Remedy: "To make the project, run `" + d.Words.InitItems + "`."}
	case errors.Is(err, storage.ErrNoProject):
		if ref := d.SharedItems(ctx); ref != "" {
			return Finding{Verdict: None, Text: "this repository has shared work items on " + cleantext.Line(ref), Remedy: "Run `" + d.Words.ShareItems + "`, then `" + d.Words.SyncItems + "`."}
		}
		return Finding{Verdict: None, Text: "no .tic directory", Remedy: "To track work items, run `" + d.Words.InitItems + "`."}
	case errors.As(err, &badConfig):
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error())} // it states what to do
	case err != nil:
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error()), Remedy: "Run `" + d.Words.CheckItems + "` for details."}
	case len(config.Warnings) > 0:
		w := config.Warnings[0]
		return Finding{Verdict: Failed, Text: cleantext.Count(all.Len(), "item") + where + "; " + cleantext.Line(w.String()), Remedy: "Run `" + d.Words.CheckItems + "` for details."}
	case len(all.Warnings) > 0:
		return Finding{Verdict: Failed, Text: cleantext.Count(all.Len(), "item") + where + ", " + cleantext.Count(len(all.Warnings), "problem"), Remedy: "Run `" + d.Words.CheckItems + "` for details."}
	}
	found := Finding{Verdict: OK, Text: cleantext.Count(all.Len(), "item") + where}
	if ref := d.SharedItems(ctx); ref != "" && where == "" {
		found.Text += "; this store is separate from the shared work items on " + cleantext.Line(ref)
		found.Remedy = "To join them, run `" + d.Words.ShareItems + "`, then `" + d.Words.SyncItems + "`."
	}
	return found
}

func (d *Doctor) commands(context.Context) Finding {
	catalog, err := d.Commands.Open(library.DefaultAgent)
	if unread, ok := errors.AsType[*library.LoadError](err); ok {
		if unread.Details() == "File not found" {
			return Finding{Verdict: None, Text: "no registry of prompts", Remedy: "To use prompts, run `" + d.Words.InitCommands + "`."}
		}
		return Finding{Verdict: Failed, Text: unread.Path + ": " + unread.Details(), Remedy: "To build it again from the templates, run `" + d.Words.IndexCommands + "`."}
	}
	if err != nil {
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error())}
	}
	return Finding{Verdict: OK, Text: cleantext.Count(len(catalog.Commands), "prompt") + " in " + catalog.Path}
}

func (d *Doctor) tasks(ctx context.Context) Finding {
	list, err := d.Tasks.Recipes(ctx)
	if _, missing := errors.AsType[recipe.MissingError](err); missing {
		return Finding{Verdict: None, Text: "no justfile"}
	}
	if _, missing := errors.AsType[recipe.NotInstalledError](err); missing {
		return Finding{Verdict: None, Text: err.Error()} // everything else works without it
	}
	if err != nil {
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error())}
	}
	return Finding{Verdict: OK, Text: cleantext.Count(len(list), "task")}
}

func (d *Doctor) containers(ctx context.Context) Finding {
	list, err := d.Engine.Containers(ctx, d.Worktree.Workspace())
	switch {
	case errors.Is(err, docker.ErrNoEngine):
		return Finding{Verdict: None, Text: err.Error()}
	case err != nil:
		return Finding{Verdict: Failed, Text: err.Error(), Remedy: "Start the engine, or correct DOCKER_HOST."}
	}
	return Finding{Verdict: OK, Text: cleantext.Count(len(list), "container")}
}

func (d *Doctor) up(ctx context.Context) Finding {
	status, err := d.Status(ctx)
	if errors.Is(err, control.ErrNotRunning) {
		return Finding{Verdict: None, Text: "not running"}
	}
	if err != nil {
		return Finding{Verdict: Failed, Text: cleantext.Line(err.Error())}
	}
	for _, w := range status.Servers() {
		if w.TokenFile == "" {
			continue
		}
		if _, err := bearer.New(w.TokenFile).Token(ctx); err != nil {
			return Finding{Verdict: Failed, Text: err.Error()}
		}
	}
	if failures := status.Failures(); len(failures) > 0 {
		return Finding{Verdict: Failed, Text: strings.Join(failures, "; ")}
	}
	found := Finding{Verdict: OK, Text: cleantext.Count(len(status.Worktrees), "worktree") + " served"}
	if exposed := status.Exposed(); len(exposed) > 0 {
		found.Text += ", also over the network in clear text (--listen " + strings.Join(exposed, ",") + ")"
		found.Remedy = "Use a tunnel instead, such as `ssh -L`."
	}
	return found
}
