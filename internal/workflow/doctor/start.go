package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/workflow/cliententries"
	"github.com/copse-dev/copse/internal/xec"
)

// greeting is the first message of a client.
const greeting = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"doctor","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`

// startTime is the time limit for a server to answer. Most clients wait longer.
const startTime = 10 * time.Second

// greet starts a server and returns the number of its tools.
func greet(ctx context.Context, c xec.Command) (int, error) {
	c.Stdin, c.Timeout = []byte(greeting), startTime
	res, err := xec.Run(ctx, c)
	if err != nil {
		return 0, err
	}
	var answer struct {
		Result struct{ Tools []struct{ Name string } }
	}
	for line := range strings.Lines(string(res.Stdout)) {
		if json.Unmarshal([]byte(line), &answer) == nil && len(answer.Result.Tools) > 0 {
			return len(answer.Result.Tools), nil
		}
	}
	return 0, errors.New("it lists no tools: " + cleantext.Cut(cleantext.Line(string(res.Stderr)), 200))
}

// maxProject is the maximum number of different servers that a project's files make the doctor
// start. A repository can have many entries, and each start costs a process.
const maxProject = 8

// tooManyError is the reason why the doctor does not try another entry of a project.
type tooManyError struct{}

func (tooManyError) Error() string {
	return fmt.Sprintf("was not tried, because the project's files have more than %d different entries", maxProject)
}

// starter starts each different server once: entries of several clients are often the same.
type starter struct {
	greet   func(context.Context, xec.Command) (int, error)
	tried   map[string]error
	project int // number of servers of a project's files
}

func newStarter(greet func(context.Context, xec.Command) (int, error)) *starter {
	return &starter{greet: greet, tried: make(map[string]error)}
}

// start starts a server that a file of a scope names, unless the same one was started before.
func (s *starter) start(ctx context.Context, scope clientfile.Scope, c xec.Command) error {
	key := strings.Join(slices.Concat([]string{c.Name, c.Dir}, c.Args, []string{""}, slices.Sorted(slices.Values(c.Env))), "\x00")
	if err, ok := s.tried[key]; ok {
		return err
	}
	if scope == clientfile.Project {
		if s.project == maxProject {
			return tooManyError{}
		}
		s.project++
	}
	_, err := s.greet(ctx, c)
	s.tried[key] = err
	return err
}

// maxCommand is the maximum length of a quoted command.
const maxCommand = 200

// starts checks an entry of copse. It starts the server as the client does: with the same command
// line, environment, and directory; read is the entry with the client's references replaced. A
// project's file comes with a repository, which must not choose what runs: for it, copse starts
// nothing but itself.
func (d *Doctor) starts(ctx context.Context, s *starter, f cliententries.File, e, read clientconfig.Named) (problem string) {
	command, err := d.commandOf(f, e.Command, read.Server)
	if err != nil {
		return err.Error()
	}
	if f.Scope == clientfile.Project {
		// A project's file could show a variable of the user in an argument.
		if !d.harmless(read.Server, command.Name) || len(e.Others) > 0 || !slices.Equal(read.Args, e.Args) {
			return "was not tried, because a project's file chooses what it starts: " + cleantext.Cut(cleantext.Line(strings.Join(append([]string{e.Command}, e.Args...), " ")), maxCommand)
		}
		command.Name = d.Executable // its own path can be a link in the project, which can change
	}
	switch err := s.start(ctx, f.Scope, command); {
	case errors.Is(err, tooManyError{}):
		return err.Error()
	case err != nil:
		return fmt.Sprintf("does not start as %s starts it: %s", f.Client.Title, cleantext.Line(err.Error()))
	}
	if f.Client.Outside() && !read.NamesRepository() {
		return fmt.Sprintf("finds no project, because %s starts it outside every project; run `%s --client %s --repo PATH`", f.Client.Title, d.Words.Install, f.Client.ID)
	}
	if names := d.withheld(f.Client, read.Server); len(names) > 0 {
		problem = fmt.Sprintf("runs without %s, which %s does not pass on", strings.Join(names, ", "), f.Client.Title)
		if f.Client.Outside() {
			problem += "; use `gh auth login`, ~/.netrc, and jira.host in your settings instead, and unset them here"
		}
		return problem
	}
	return ""
}

// commandOf returns how a client starts a server. written is the command as it is in the file, for
// errors: the values of variables can be secrets.
func (d *Doctor) commandOf(f cliententries.File, written string, s clientconfig.Server) (xec.Command, error) {
	env := xec.Env(f.Client.Environ(d.Environ, s))
	written = cleantext.Cut(cleantext.Line(written), maxCommand)
	if strings.ContainsAny(s.Command, `/\`) && !filepath.IsAbs(s.Command) {
		return xec.Command{}, fmt.Errorf("starts %s, which is a different program in each directory; write the full path", written)
	}
	path, err := env.LookPath(s.Command)
	if err != nil {
		return xec.Command{}, fmt.Errorf("starts %s, which does not exist", written)
	}
	dir := d.Worktree.Dir
	if f.Client.Outside() {
		dir = d.Clients.Home
	}
	if s.Dir != "" && f.Client.StartsIn() {
		dir = s.Dir
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(d.Worktree.Dir, dir)
		}
	}
	return xec.Command{Name: path, Args: s.Args, Dir: dir, Env: env}, nil
}

// harmless reports whether an entry starts this very program, as a server and with nothing that
// could make it start another.
func (d *Doctor) harmless(s clientconfig.Server, path string) bool {
	return real(path) == real(d.Executable) && len(s.Env) == 0 && s.OnlyServes()
}

// withheld returns the variables that are set here and missing in a client's server. An application
// with windows has none of the shell's, so only logins count there.
func (d *Doctor) withheld(c clientconfig.Client, s clientconfig.Server) []string {
	names := c.Withheld(d.Environ, s)
	if c.ID != "claude-desktop" {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, "GH_") && !strings.HasPrefix(name, "GITHUB_") && !strings.HasPrefix(name, "JIRA_")
	})
}
