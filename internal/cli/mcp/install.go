package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/mcp/aside"
	"github.com/copse-dev/copse/internal/cli/mcp/change"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/clientconfig/sessionhook"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/userdir"
	"github.com/copse-dev/copse/internal/workflow/cliententries"
)

// Install writes the entry that starts copse into the user's file of a client, for "copse init". It
// returns the file, and false if the file was up to date. An entry over HTTP stays as it is.
func Install(ctx context.Context, env app.Env, client string) (path string, changed bool, err error) {
	o := clientOptions{env: env, name: "copse", scope: string(clientfile.User)}
	path, entry, err := o.existing(ctx, client)
	if err != nil || entry.URL != "" {
		return path, false, err
	}
	o.transport = overStdio
	done, err := o.write(ctx, client, set)
	return path, len(done) > 0 && done[0].diff != nil, err
}

// Installed reports whether the user's file of a client has an entry that [Install] would not change.
func Installed(ctx context.Context, env app.Env, client string) bool {
	o := clientOptions{env: env, name: "copse", scope: string(clientfile.User), transport: overStdio, dryRun: true}
	_, entry, err := o.existing(ctx, client)
	if err != nil || entry.Name == "" || entry.URL != "" {
		return err == nil && entry.URL != ""
	}
	done, err := o.write(ctx, client, set)
	return err == nil && done[0].diff == nil
}

// File returns the user's file of a client that [Install] changes, "" if it has none here.
func File(ctx context.Context, env app.Env, client string) string {
	o := clientOptions{env: env, name: "copse", scope: string(clientfile.User)}
	path, _, err := o.existing(ctx, client)
	if err != nil {
		return ""
	}
	return path
}

// existing returns the file of a client, and its entry; an entry without a name if there is none.
func (o *clientOptions) existing(ctx context.Context, id string) (path string, entry clientconfig.Named, err error) {
	client, err := clientconfig.Lookup(id)
	if err != nil {
		return "", entry, app.UsageError(err.Error())
	}
	paths, err := o.paths(ctx, client)
	if err != nil {
		return "", entry, err
	}
	path = paths[0]
	text, err := o.file(ctx, path).Read()
	if err != nil {
		return path, entry, nil //nolint:nilerr // writing it reports the reason
	}
	return path, named(client, text, o.name), nil
}

// paths returns the client's files to change: the one with the entry that the client uses, else the
// usual one, or another that exists in its directory, else a new one. To remove the entry, these are
// all files with it.
func (o *clientOptions) paths(ctx context.Context, client clientconfig.Client) ([]string, error) {
	scope, place := clientfile.Scope(o.scope), ClientFiles(o.env, o.project(ctx))
	all, err := client.Paths(scope, place)
	if err != nil {
		return nil, err
	}
	usual, err := client.Path(scope, place)
	if err != nil {
		return nil, err
	}
	var with, beside []string
	for _, path := range all {
		text, err := o.file(ctx, path).Read()
		if err != nil {
			continue // writing it reports the reason
		}
		if named(client, text, o.name).Name != "" {
			with = append(with, path)
		} else if filepath.Dir(path) == filepath.Dir(usual) {
			beside = append(beside, path)
		}
	}
	switch {
	case len(with) == 0 && len(beside) > 0:
		return beside[:1], nil
	case len(with) == 0:
		return []string{usual}, nil
	case o.remove:
		return with, nil
	}
	return with[:1], nil
}

// named returns the entry of that name in a client's text; one without a name if there is none.
func named(client clientconfig.Client, text []byte, name string) clientconfig.Named {
	all, err := client.AllEntries(text)
	if err != nil {
		return clientconfig.Named{} // writing it reports the reason
	}
	for _, e := range all {
		if e.Name == name {
			return e
		}
	}
	return clientconfig.Named{}
}

// Present lists the clients that this user has, by their configuration: its file, or the
// directory that it is in.
func Present(env app.Env) []string {
	home := env.Home()
	var found []string
	for _, id := range clientconfig.IDs() {
		client, err := clientconfig.Lookup(id)
		if err != nil {
			continue
		}
		path, err := client.Path(clientfile.User, ClientFiles(env, ""))
		if err != nil {
			continue
		}
		dir := filepath.Dir(path)
		_, noFile := os.Lstat(path)
		_, noDir := os.Lstat(dir)
		if noFile == nil || noDir == nil && dir != filepath.Clean(home) {
			found = append(found, id)
		}
	}
	return found
}

// editing changes the text of a client's file. It keeps the objects of these names when they become
// empty.
type editing func(_ clientconfig.Client, _ []byte, _ []clientconfig.Named, keep []string) ([]byte, error)

func set(c clientconfig.Client, text []byte, entries []clientconfig.Named, _ []string) ([]byte, error) {
	var err error
	for _, e := range entries {
		if text, err = c.Set(text, e.Name, e.Server); err != nil {
			break
		}
	}
	return text, err
}

// change changes the file of each client and shows how. A failure does not affect the others.
func (o *clientOptions) change(ctx context.Context, edit func(*clientOptions) editing) error {
	if err := o.check(true); err != nil {
		return err
	}
	var errs []error
	for _, id := range o.clients {
		err := o.changeOne(ctx, id, edit)
		if err != nil && len(o.clients) > 1 {
			err = fmt.Errorf("%s: %w", id, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// changeOne changes the files of a client. Without a transport, an entry keeps its own.
func (o *clientOptions) changeOne(ctx context.Context, id string, edit func(*clientOptions) editing) error {
	one := *o
	if one.transport == "" {
		one.transport = overStdio
		if _, entry, err := o.existing(ctx, id); err != nil {
			return err
		} else if entry.URL != "" && !o.remove {
			one.transport = overHTTP
		}
	}
	var done []written
	err := one.checkLimits()
	if err == nil {
		done, err = one.write(ctx, id, edit(&one))
	}
	if err != nil && one.transport != o.transport && one.transport == overHTTP {
		return fmt.Errorf("the entry uses http: %w; to have the client start copse instead, pass --transport stdio", err)
	}
	for _, file := range done {
		err = errors.Join(err, one.show(id, file))
	}
	if err == nil && (o.hooks || o.remove) {
		err = one.changeHooks(ctx, id)
	}
	return err
}

// changeHooks adds the hooks of a client, or removes them.
func (o *clientOptions) changeHooks(ctx context.Context, id string) error {
	client, err := clientconfig.Lookup(id)
	if err != nil {
		return err
	}
	hooks, err := sessionhook.For(client.ID, client.Title)
	var path string
	if err == nil {
		path, err = hooks.Path(clientfile.Scope(o.scope), ClientFiles(o.env, o.project(ctx)))
	}
	_, none := errors.AsType[*sessionhook.NoneError](err)
	switch {
	case none && o.remove:
		return nil
	case none && len(o.clients) > 1:
		o.env.Note(err.Error())
		return nil
	case err != nil:
		return err
	}
	command, err := o.command()
	if err != nil {
		return err
	}
	switch {
	case runtime.GOOS != "windows":
		command = cleantext.Word(command)
	case strings.ContainsAny(command, " &()^,;=%"): // no name of a file has a quotation mark there
		command = `"` + command + `"`
	}
	done, err := o.writeFile(ctx, client, path, nil, func(_ clientconfig.Client, text []byte, _ []clientconfig.Named, keep []string) ([]byte, error) {
		if o.remove {
			return hooks.Remove(text, keep...)
		}
		return hooks.Set(text, command+" mcp hook --client "+id)
	})
	if err != nil || o.remove && done.diff == nil {
		return err
	}
	if id == "codex" && !o.remove && !o.dryRun && done.diff != nil {
		fmt.Fprintln(o.env.Stderr, "Codex runs a new hook after you trust it: open /hooks in Codex once")
	}
	return o.show("", done)
}

// show describes what happened to a client's file.
func (o *clientOptions) show(id string, done written) error {
	var text bytes.Buffer
	path := cleantext.Line(done.path)
	switch {
	case done.diff == nil && o.remove:
		fmt.Fprintf(&text, "nothing to remove in %s\n", path)
	case done.diff == nil:
		fmt.Fprintf(&text, "%s is already up to date\n", path)
	case o.dryRun:
		fmt.Fprintf(&text, "%s would change:\n%s", path, done.diff)
	default:
		fmt.Fprintf(&text, "%s changed:\n%s", path, done.diff)
	}
	if done.backup != "" {
		fmt.Fprintf(&text, "Backup: %s\n", cleantext.Line(done.backup))
	}
	// The paths and the other entries of a project's file are foreign text.
	if err := output.New(o.env).Drawn(cleantext.Block(text.String())); err != nil {
		return err
	}
	if done.tightened && o.dryRun {
		o.env.Notef("other users can read %s; copse would make it private, because it would contain a token", done.path)
	} else if done.tightened {
		o.env.Notef("other users could read %s; copse made it private, because it contains a token", done.path)
	}
	if id == "claude-desktop" && o.transport == overStdio && done.diff != nil && !o.dryRun && !o.remove {
		if o.repo == "" {
			o.env.Note("Claude Desktop starts copse outside your projects: name one with --repo")
		}
		o.env.Note("Claude Desktop does not pass on the variables of your shell: use `gh auth login` or ~/.netrc for logins, and set jira.host in your settings")
	}
	if o.remove && done.diff != nil && !o.dryRun {
		o.noteLeft(done)
	}
	o.noteLimits(id, done)
	o.noteChosen(id, done)
	if client, err := clientconfig.Lookup(id); err == nil && done.diff != nil && !o.dryRun && !o.remove {
		o.env.Notef("restart %s, or reload its MCP servers, to apply the change", client.Title)
	}
	return nil
}

// noteLeft names what stays after copse is removed from a file.
func (o *clientOptions) noteLeft(done written) {
	if rest := string(bytes.TrimSpace(done.after)); rest == "" || rest == "{}" {
		o.env.Notef("note: %s stays, although nothing is left in it", done.path)
	}
	o.env.Notef("note: backups stay next to the file, as %s.copse-backup*; they can contain a token: delete them when you no longer need them", filepath.Base(done.path))
}

// noteChosen warns about an entry of a project's file that starts more than copse: its
// author chose that, and the client shows it under copse's name.
func (o *clientOptions) noteChosen(id string, done written) {
	client, err := clientconfig.Lookup(id)
	if err != nil || o.remove || o.scope != string(clientfile.Project) || o.transport == overHTTP || o.repo != "" {
		return
	}
	entry := named(client, done.after, o.name)
	if entry.Name == "" || entry.URL != "" {
		return
	}
	if chosen := client.Chosen(entry); chosen != "" {
		o.env.Notef("warning: the entry %s of the project's file starts more than copse: %s; check it before you let %s start it, or remove it with `%s` and install again",
			o.name, cleantext.Cut(cleantext.Line(chosen), 300), client.Title, cleantext.Command("copse", "mcp", "uninstall", "--scope", "project", "--client", id))
	}
}

// noteLimits names the limits of an earlier entry that stay, and what cannot move to another
// transport.
func (o *clientOptions) noteLimits(id string, done written) {
	client, err := clientconfig.Lookup(id)
	if err != nil || o.remove {
		return // the hooks of a client have no limits
	}
	text := done.after
	if o.transport == overHTTP {
		text = done.before
	}
	set := o.limits()
	kept := slices.DeleteFunc(named(client, text, o.name).Limits(), func(limit string) bool {
		flag, _, _ := strings.Cut(limit, "=")
		return slices.Contains(o.lifted, flag) || slices.Contains(set, flag)
	})
	var lifting []string
	for _, limit := range kept {
		flag, _, valued := strings.Cut(limit, "=")
		lifting = append(lifting, flag+map[bool]string{true: ` ""`, false: "=false"}[valued])
	}
	switch flags := strings.Join(kept, " "); {
	case len(kept) == 0:
	case o.transport == overHTTP:
		o.env.Notef("the entry loses %s, because copse up decides what to serve over http; to keep the limit, run `copse down`, then `%s`", flags, "copse up "+flags)
	case o.transport == overStdio:
		o.env.Notef("the entry keeps %s; to remove the limit, pass %s", flags, strings.Join(lifting, " or "))
	}
	if other := overStdio; len(done.aside) > 0 {
		if o.transport == overStdio {
			other = overHTTP
		}
		o.env.Notef("%s of your entry do not apply over %s; copse keeps them for --transport %s", strings.Join(slices.Sorted(maps.Keys(done.aside)), ", "), o.transport, other)
	}
}

// limits returns the names of the limits that the flags set.
func (o *clientOptions) limits() []string {
	var names []string
	if o.readOnly {
		names = append(names, "--read-only")
	}
	if len(o.toolsets) > 0 {
		names = append(names, "--toolsets")
	}
	return names
}

// written is the outcome for a file.
type written struct {
	path string
	diff []byte // nil if it was up to date
	// before and after are the contents of the file.
	before, after []byte
	// aside are the members of the entry that mean nothing over its new transport.
	aside map[string]any
	// backup contains the earlier content; "" if there was nothing to back up.
	backup string
	// tightened means that others could read the file, which now contains a token.
	tightened bool
}

// write changes a client's files, unless it is a dry run. It returns the outcome for each.
func (o *clientOptions) write(ctx context.Context, id string, edit editing) ([]written, error) {
	client, err := clientconfig.Lookup(id)
	if err != nil {
		return nil, app.UsageError(err.Error())
	}
	paths, err := o.paths(ctx, client)
	if err != nil {
		return nil, err
	}
	var entries []clientconfig.Named
	if !o.remove {
		if o.transport == overHTTP {
			if err := client.CheckHTTP(); err != nil {
				return nil, err
			}
		}
		if entries, err = o.entries(ctx); err != nil {
			return nil, err
		}
	}
	var all []written
	for _, path := range paths {
		done, err := o.writeFile(ctx, client, path, entries, edit)
		if err != nil {
			return all, err
		}
		all = append(all, done)
	}
	return all, nil
}

// asides returns the store for members without meaning for a transport.
func (o *clientOptions) asides() aside.Store { return aside.In(userdir.Dir(o.env.StateDir("clients"))) }

// writeFile changes a file of a client, unless it is a dry run.
func (o *clientOptions) writeFile(ctx context.Context, client clientconfig.Client, path string, entries []clientconfig.Named, edit editing) (written, error) {
	// Another program may be writing the same file; its change survives.
	const attempts, nap = 50, 20 * time.Millisecond
	var kept backup
	for attempt := 1; ; attempt++ {
		done, err := o.writeOnce(ctx, client, path, entries, edit, &kept)
		if !errors.Is(err, lockedstore.ErrChanged) {
			return done, err
		}
		if attempt == attempts {
			return done, fmt.Errorf("another program keeps changing %s; close it and try again: %w", path, err)
		}
		select {
		case <-ctx.Done():
			return done, ctx.Err()
		case <-time.After(rand.N(nap)):
		}
	}
}

// backup is the file that this run has created, "" for none yet, and its content.
type backup struct {
	path    string
	content []byte
}

// file returns a client's file. A project's file is in the project. To remove an entry, it can be
// larger than those that copse reads otherwise.
func (o *clientOptions) file(ctx context.Context, path string) lockedstore.Foreign {
	if o.scope == string(clientfile.Project) && !o.remove {
		return cliententries.ProjectFile(o.project(ctx), path)
	}
	return o.unlimited(ctx, path)
}

// unlimited returns a file of any size that copse edits: one to remove from, or a backup of one.
func (o *clientOptions) unlimited(ctx context.Context, path string) lockedstore.Foreign {
	if o.scope == string(clientfile.Project) {
		return lockedstore.ForeignIn(o.project(ctx), path)
	}
	return lockedstore.ForeignAt(path)
}

// explainFile explains what to do about an unusable file.
func explainFile(path string, err error) error {
	if errors.Is(err, rooted.ErrOutside) {
		return fmt.Errorf("%s is behind a symbolic link that points outside the project, so copse does not change it; replace the link with a file, or use --scope user", path)
	}
	return fmt.Errorf("read %s: %w", path, err)
}

func (o *clientOptions) writeOnce(ctx context.Context, client clientconfig.Client, path string, entries []clientconfig.Named, edit editing, kept *backup) (written, error) {
	file := o.file(ctx, path)
	before, err := file.Read()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return written{}, explainFile(path, err)
	}
	entries = slices.Clone(entries)
	for i, e := range entries {
		entries[i].Aside = o.asides().Of(path, e.Name)
	}
	after, err := edit(client, before, entries, o.asides().Empties(path))
	if err = cmp.Or(err, file.Check(after)); err != nil {
		return written{}, fmt.Errorf("%s is not changed: %w", path, err)
	}
	if o.remove {
		after = o.asides().Restored(path, after)
	}
	hasToken := slices.ContainsFunc(entries, func(n clientconfig.Named) bool { return n.Token != "" })
	done := written{path: path, before: before, after: after}
	if !bytes.Equal(before, after) {
		done.diff = change.Of(before, after)
	}
	if hasToken && o.dryRun {
		done.tightened = cliententries.Exposed(o.env.GOOS, path)
	} else if hasToken { // before the token is in the file
		if done.tightened, err = cliententries.Tighten(o.env.GOOS, path); err != nil {
			return done, err
		}
		file = file.Private()
	}
	switched := false
	for _, e := range entries {
		if done.aside, switched, err = client.Aside(before, e.Name, e.Server); err != nil {
			return done, fmt.Errorf("%s is not changed: %w", path, err)
		}
	}
	if done.diff == nil || o.dryRun {
		return done, nil
	}
	if o.remove {
		err = o.replace(ctx, file, &done, kept)
		if err == nil {
			// Nothing is lost if the file could not be changed.
			err = cmp.Or(o.asides().Keep(path, o.name, nil), o.asides().ForgetEmpties(path, after))
		}
		return done, err
	}
	// This happens first, so that nothing is lost in between.
	earlier := o.asides().Of(path, o.name)
	if switched {
		err = o.asides().Keep(path, o.name, done.aside)
	}
	if err = cmp.Or(err, o.asides().NoteEmpties(path, before)); err != nil {
		return done, fmt.Errorf("%s is not changed, because copse cannot store what you added to it: %w", path, err)
	}
	if err = o.replace(ctx, file, &done, kept); err != nil && switched {
		err = errors.Join(err, o.asides().Keep(path, o.name, earlier))
	}
	return done, err
}

// replace changes a client's file after a backup.
func (o *clientOptions) replace(ctx context.Context, file lockedstore.Foreign, done *written, kept *backup) error {
	if len(done.before) > 0 {
		if err := o.keep(ctx, done.path, done.before, kept); err != nil {
			return err
		}
		done.backup = kept.path
	}
	return file.Replace(done.before, done.after)
}

// maxBackups is the maximum number of backups of a file with different contents.
const maxBackups = 1000

// keep writes the content of a client's file next to it. Earlier backups stay: each content has its
// own file, except contents that one run writes in between.
func (o *clientOptions) keep(ctx context.Context, path string, content []byte, kept *backup) error {
	if kept.path != "" {
		if err := o.unlimited(ctx, kept.path).Replace(kept.content, content); err != nil {
			return err
		}
		kept.content = content
		return nil
	}
	for n := 1; n <= maxBackups; n++ {
		at := path + ".copse-backup"
		if n > 1 {
			at = fmt.Sprintf("%s.%d", at, n)
		}
		file := o.unlimited(ctx, at)
		old, err := file.Read()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return explainFile(at, err)
		}
		if err == nil && !bytes.Equal(old, content) {
			continue
		}
		// The file may contain an earlier token, unless it is a project's, which never contains
		// one.
		if o.scope != string(clientfile.Project) {
			if _, err := cliententries.Tighten(o.env.GOOS, at); err != nil {
				return err
			}
		}
		if err == nil {
			return nil // and a later content does not replace it
		}
		if err := file.Replace(nil, content); err != nil {
			return err
		}
		kept.path, kept.content = at, content
		return nil
	}
	return fmt.Errorf("%s already has %s; remove some of them", path, cleantext.Count(maxBackups, "backup"))
}
