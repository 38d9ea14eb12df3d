// Package hook contains the command that clients run as a session hook: it prints the context of the
// project when a session starts, and again after a client has compacted it.
//
// Use [Command]. The command never fails a session: without anything to report, it prints nothing.
package hook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/clientconfig"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/wiring/full"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/since"
)

// maxTokens is the size of the context at the start of a session.
const maxTokens = 600

// event is a client's description of the event for which it runs a hook.
type event struct {
	Name    string `json:"hook_event_name"`
	Session string `json:"session_id"`
	Dir     string `json:"cwd"`
	// Copilot CLI has another name, and names no event: each has a member of its own.
	SessionID string  `json:"sessionId"`
	Trigger   *string `json:"trigger"`
	Prompt    *string `json:"prompt"`
}

// name returns the name of the event; given is the one on the command line.
func (e event) name(given string) string {
	switch {
	case e.Name != "":
		return e.Name
	case given != "":
		return given
	case e.Trigger != nil:
		return "preCompact"
	case e.Prompt != nil:
		return "userPromptSubmitted"
	}
	return "SessionStart"
}

// Command returns the command.
func Command(env app.Env) *cobra.Command {
	var client, name string
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Print the context for a client's session hook",
		Long: `Print the context, in 600 tokens, in the format of a client's hook. Clients run this command
when a session starts and after they compact it; "copse mcp install --hooks" sets it up. The
command reads the event from standard input. If there is nothing to report, it prints nothing and
succeeds.`,
		Example: "  copse mcp hook --client claude-code </dev/null",
		Args:    app.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := clientconfig.Lookup(client); err != nil {
				return app.UsageError(err.Error())
			}
			return run(cmd.Context(), env, client, name)
		},
	}
	f := cmd.Flags()
	f.StringVar(&client, "client", "claude-code", "the `client` that runs the hook: claude-code, codex, gemini, or copilot")
	f.StringVar(&name, "event", "", "the `event`, for clients that do not send it")
	return cmd
}

func run(ctx context.Context, env app.Env, client, name string) error {
	var e event
	if !env.Interactive() {
		_ = input.Event(env.Stdin, &e) // a client without one is in this directory
	}
	if e.Session == "" {
		e.Session = e.SessionID
	}
	e.Name = e.name(name)
	if !due(env, client, e) {
		return nil
	}
	dir := env.Dir
	if filepath.IsAbs(e.Dir) {
		dir = e.Dir
	}
	text := informed(ctx, env, dir)
	if text == "" {
		return nil
	}
	type output struct {
		Event   string `json:"hookEventName,omitempty"`
		Context string `json:"additionalContext"`
	}
	var answer any = struct {
		Output output `json:"hookSpecificOutput"`
	}{output{e.Name, text}}
	if client == "copilot" {
		answer = output{Context: text}
	}
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(answer)
}

// informed returns the context of a directory, "" if there is none.
func informed(ctx context.Context, env app.Env, dir string) string {
	at := env
	at.Dir = dir
	ws := full.Find(ctx, at, "")
	if info, err := os.Stat(ws.Workspace()); err != nil || !info.IsDir() {
		return ""
	}
	store, tasks := ws.Items(), ws.Tasks()
	defer tasks.Close()
	found, err := ws.Context(store, tasks, ws.Files()).Gather(ctx, projectcontext.Request{Tokens: maxTokens})
	if err = errors.Join(err, store.Close()); err != nil {
		return ""
	}
	return "This is the state of the project as copse knows it; get_project_context has more. " + foreign.Rule + ".\n\n" + since.Markdown(found, ws.Memory().Remember(found), maxTokens)
}

// due reports whether a session gets the context at an event. Gemini CLI and Copilot CLI have no
// event after they have compacted a session; the first prompt after the event before it takes its
// place. For each session, the last event is stored.
func due(env app.Env, client string, e event) bool {
	const began, compacted, told = "began", "compacted", "told"
	before := strings.EqualFold(e.Name, "PreCompress") || strings.EqualFold(e.Name, "PreCompact")
	prompt := e.Name == "BeforeAgent" || strings.EqualFold(e.Name, "UserPromptSubmitted")
	dir := env.StateDir("hooks")
	if dir == "" {
		return !before && !prompt
	}
	sum := sha256.Sum256([]byte(client + "\x00" + e.Session))
	path := filepath.Join(dir, hex.EncodeToString(sum[:8]))
	last, err := regular.Read(path, 64) // a missing file means no event
	if errors.Is(err, fs.ErrNotExist) {
		forget(dir, env.Now())
	}
	keep := func(what string) {
		if ownership.MakeAll(dir) == nil {
			_ = lockedstore.Replace(path, last, []byte(what)) // the next compaction triggers it then
		}
	}
	switch {
	case before:
		if string(last) == told { // Gemini CLI compresses before the first prompt, too
			keep(compacted)
		}
		return false
	case prompt:
		keep(told)
		return string(last) == compacted
	case client == "gemini" || client == "copilot":
		keep(began)
	}
	return true
}

// sessionTime is how long the last event of a session is kept.
const sessionTime = 7 * 24 * time.Hour

// forget removes the events of sessions in which nothing has happened for long. copse does not learn
// when a session ends.
func forget(dir string, now time.Time) {
	files, _ := regular.ReadDir(dir) // without the directory, there are none
	for _, file := range files {
		if info, err := file.Info(); err == nil && info.Mode().IsRegular() && now.Sub(info.ModTime()) > sessionTime {
			_ = os.Remove(filepath.Join(dir, file.Name())) // another process has removed it
		}
	}
}
