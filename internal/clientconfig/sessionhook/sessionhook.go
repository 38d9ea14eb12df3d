// Package sessionhook writes the hooks with which MCP clients run copse when a session starts, so that
// it begins with the developer's working context.
//
// [For] returns the hooks of a client, [Hooks.Path] their file. [Hooks.Set] and [Hooks.Remove] change
// the text of one. Other hooks stay, and so do a person's changes to those of copse.
package sessionhook

import (
	"bytes"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/clientconfig/clientfile"
	"github.com/copse-dev/copse/internal/clientconfig/jsonedit"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Hooks describes the session hooks of a client.
type Hooks struct {
	title   string
	user    clientfile.Path
	project []string // below the project; nil if the client needs none there
	events  []event
	flat    bool // the command is in the event's list; otherwise in a group there
	seconds int  // the time limit, in the client's unit
}

// event is an event of a client's session.
type event struct {
	name string
	// matcher limits it to some causes of the event; "" means all.
	matcher string
}

// limit is the time limit of a hook, in seconds.
const limit = 10

// For returns the hooks of the client with this ID and title, or a [*NoneError].
func For(id, title string) (Hooks, error) {
	const causes = "startup|resume|clear|compact"
	switch id {
	case "claude-code":
		return Hooks{
			title: title, user: clientfile.Path{clientfile.ClaudeDir, "settings.json"}, project: []string{".claude", "settings.json"},
			events: []event{{"SessionStart", causes}}, seconds: limit,
		}, nil
	case "codex":
		return Hooks{
			title: title, user: clientfile.Path{clientfile.CodexDir, "hooks.json"}, project: []string{".codex", "hooks.json"},
			events: []event{{"SessionStart", causes}}, seconds: limit,
		}, nil
	case "gemini":
		// It has no event after a compression: the next prompt takes its place.
		return Hooks{
			title: title, user: clientfile.Path{clientfile.GeminiHome, ".gemini", "settings.json"}, project: []string{".gemini", "settings.json"},
			events: []event{{name: "SessionStart"}, {name: "PreCompress"}, {name: "BeforeAgent"}}, seconds: limit * 1000,
		}, nil
	case "copilot":
		// In a project, it also runs the hooks of Claude Code; a second file would repeat
		// everything.
		return Hooks{
			title: title, user: clientfile.Path{clientfile.CopilotDir, "hooks", "copse.json"},
			events: []event{{name: "sessionStart"}, {name: "preCompact"}, {name: "userPromptSubmitted"}}, flat: true, seconds: limit,
		}, nil
	}
	return Hooks{}, &NoneError{Title: title}
}

// NoneError reports that a client runs nothing when a session starts.
type NoneError struct {
	Title string
	// Shared means that it runs the hooks of Claude Code there.
	Shared bool
}

func (e *NoneError) Error() string {
	if e.Shared {
		return "in a project " + e.Title + " runs the hooks of Claude Code; install them with --client claude-code --scope project"
	}
	return e.Title + " has no hook at the start of a session; use --hooks with claude-code, codex, gemini, or copilot"
}

// Path returns the file with the hooks, or a [*NoneError].
func (h Hooks) Path(scope clientfile.Scope, l clientfile.Location) (string, error) {
	switch {
	case scope == clientfile.User:
		return l.Resolve(h.title, h.user)
	case h.project == nil:
		return "", &NoneError{Title: h.title, Shared: true}
	}
	return l.InProject(h.project), nil
}

// ours matches the command of a hook of copse.
var ours = lazyregexp.New(`(^|[/\\"' ])copse(\.exe)?["']? mcp hook --client [a-z-]+$`)

// command returns a member of a hook, and whether it is the command of a hook of copse.
func command(o *jsonedit.Object, key string) (text string, isOurs bool) {
	text, _ = o.Get(key).(string)
	return text, ours.Get().MatchString(strings.TrimSpace(text))
}

// Set returns text with the hooks of copse, which run a command line.
func (h Hooks) Set(text []byte, commandLine string) ([]byte, error) {
	doc, err := jsonedit.Parse(text, "hooks")
	if err != nil {
		return nil, err
	}
	root := doc.Root()
	if h.flat && !root.Has("version") {
		root.Set("version", 1)
	}
	all, err := root.AddObject("hooks")
	if err != nil {
		return nil, err
	}
	for _, e := range h.events {
		list, err := all.List(e.name)
		switch {
		case err != nil:
			return nil, err
		case list == nil:
			all.Set(e.name, []any{h.entry(e, commandLine)})
		case !rewrite(list, commandLine):
			list.Add(h.entry(e, commandLine))
		}
	}
	return doc.Text(), nil
}

// entry returns a hook in an event's list.
func (h Hooks) entry(e event, commandLine string) any {
	type run struct {
		Type       string `json:"type"`
		Command    string `json:"command,omitempty"`
		Bash       string `json:"bash,omitempty"`
		PowerShell string `json:"powershell,omitempty"`
		Timeout    int    `json:"timeout,omitempty"`
		Seconds    int    `json:"timeoutSec,omitempty"`
	}
	if h.flat {
		return run{Type: "command", Bash: commandLine, PowerShell: "& " + commandLine, Seconds: h.seconds}
	}
	return struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []run  `json:"hooks"`
	}{e.matcher, []run{{Type: "command", Command: commandLine, Timeout: h.seconds}}}
}

// rewrite gives the hooks of copse in a list another command line, and reports whether there are
// any.
func rewrite(list *jsonedit.List, commandLine string) (found bool) {
	for o := range list.Objects() {
		for _, key := range []string{"command", "bash", "powershell"} {
			text, isOurs := command(o, key)
			if !isOurs {
				continue
			}
			want := commandLine
			if key == "powershell" {
				want = "& " + commandLine
			}
			if found = true; text != want {
				o.Set(key, want)
			}
		}
		if group, _ := o.List("hooks"); group != nil && rewrite(group, commandLine) {
			found = true
		}
	}
	return found
}

// Remove returns text without the hooks of copse, and without the containers that are then empty and
// not in keep.
func (h Hooks) Remove(text []byte, keep ...string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	doc, err := jsonedit.Parse(text, "hooks")
	if err != nil {
		return nil, err
	}
	root, changed := doc.Root(), false
	all, _ := root.Object("hooks") // in another form, it has none
	if all == nil {
		return text, nil
	}
	for _, name := range all.Names() {
		list, _ := all.List(name)
		if list == nil || !strip(list) {
			continue
		}
		changed = true
		if list.Len() == 0 {
			all.Remove(name)
		}
	}
	if changed && all.Empty() && !slices.Contains(keep, "hooks") {
		root.Remove("hooks")
		if h.flat && root.Len() == 1 {
			root.Remove("version")
		}
	}
	return doc.Text(), nil
}

// strip removes the hooks of copse from a list, and reports whether there were any.
func strip(list *jsonedit.List) bool {
	changed := false
	return list.RemoveObjects(func(o *jsonedit.Object) bool {
		for _, key := range []string{"command", "bash"} {
			if _, isOurs := command(o, key); isOurs {
				return true
			}
		}
		group, _ := o.List("hooks")
		if group == nil || !strip(group) {
			return false
		}
		changed = true
		return group.Len() == 0
	}) || changed
}
