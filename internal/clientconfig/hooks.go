package clientconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// Hook is an event of a client's session at which it runs a command.
type Hook struct {
	Event string
	// Matcher limits it to some causes of the event; "" means all.
	Matcher string
}

// hooks describes the configuration of a client's session hooks.
type hooks struct {
	user, project []string // the file: parts as in [Client], and parts below the project
	events        []Hook
	flat          bool // the command is in the event's list; otherwise in a group there
	seconds       int  // the time limit, in the client's unit
}

// hookSeconds is the time limit of a hook, in seconds.
const hookSeconds = 10

// hooksOf returns the hooks of a client, false if none of them can inform a session.
func (c Client) hooksOf() (hooks, bool) {
	const causes = "startup|resume|clear|compact"
	switch c.ID {
	case "claude-code":
		return hooks{user: []string{claudeDir, "settings.json"}, project: []string{".claude", "settings.json"}, events: []Hook{{"SessionStart", causes}}, seconds: hookSeconds}, true
	case "codex":
		return hooks{user: []string{codexDir, "hooks.json"}, project: []string{".codex", "hooks.json"}, events: []Hook{{"SessionStart", causes}}, seconds: hookSeconds}, true
	case "gemini":
		// It has no event after a compression: the next prompt takes its place.
		return hooks{
			user: []string{geminiHome, ".gemini", "settings.json"}, project: []string{".gemini", "settings.json"},
			events: []Hook{{Event: "SessionStart"}, {Event: "PreCompress"}, {Event: "BeforeAgent"}}, seconds: hookSeconds * 1000,
		}, true
	case "copilot":
		// In a project, it also runs the hooks of Claude Code; a second file would repeat
		// everything.
		return hooks{
			user: []string{copilotDir, "hooks", "copse.json"}, project: nil,
			events: []Hook{{Event: "sessionStart"}, {Event: "preCompact"}, {Event: "userPromptSubmitted"}}, flat: true, seconds: hookSeconds,
		}, true
	}
	return hooks{}, false
}

// NoHooksError reports that a client runs nothing when a session starts.
type NoHooksError struct {
	Title string
	Scope Scope
}

func (e *NoHooksError) Error() string {
	if e.Title == "Copilot CLI" {
		return "in a project Copilot CLI runs the hooks of Claude Code; install them with --client claude-code --scope project"
	}
	return e.Title + " has no hook at the start of a session; use --hooks with claude-code, codex, gemini, or copilot"
}

// HookPath returns the file with the client's hooks, or a [*NoHooksError].
func (c Client) HookPath(scope Scope, p Location) (string, error) {
	h, ok := c.hooksOf()
	parts := h.user
	if scope == Project {
		parts = h.project
	}
	switch {
	case !ok || parts == nil:
		return "", &NoHooksError{Title: c.Title, Scope: scope}
	case scope == Project:
		return filepath.Join(append([]string{p.Dir}, parts...)...), nil
	}
	return p.resolve(c.Title, parts)
}

// ourHook matches the command of a hook of copse.
var ourHook = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[/\\"' ])copse(\.exe)?["']? mcp hook --client [a-z-]+$`)
})

// SetHooks returns text with the hooks of copse, which run a command line. Other hooks stay, and so
// do a person's changes to those of copse.
func (c Client) SetHooks(text []byte, command string) ([]byte, error) {
	h, ok := c.hooksOf()
	if !ok {
		return nil, &NoHooksError{Title: c.Title}
	}
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	file, root, err := parse(text)
	if err != nil {
		return nil, err
	}
	style, changed := styleOf(text), false
	if h.flat && member(root, "version") < 0 {
		add(root, "version", style.value([]byte("1"), 1), style, 1)
		changed = true
	}
	all, err := objectIn(root, "hooks", style, 1)
	if err != nil {
		return nil, err
	}
	for _, hook := range h.events {
		at := member(all, hook.Event)
		if at < 0 {
			add(all, hook.Event, style.value(slices.Concat([]byte("["), h.entry(hook, command), []byte("]")), 2), style, 2)
			changed = true
			continue
		}
		list, ok := all.Members[at].Value.Value.(*hujson.Array)
		if !ok {
			return nil, fmt.Errorf("%w: %q", errShape, "hooks."+hook.Event)
		}
		found, differs := rewrite(list, command)
		if changed = changed || differs; found {
			continue
		}
		v := style.value(h.entry(hook, command), 3)
		v.BeforeExtra = hujson.Extra(style.line(3))
		list.Elements = append(list.Elements, v)
		changed = true
	}
	if !changed {
		return text, nil
	}
	return file.Pack(), nil
}

// entry returns the JSON of a hook in an event's list.
func (h hooks) entry(hook Hook, command string) []byte {
	type run struct {
		Type       string `json:"type"`
		Command    string `json:"command,omitempty"`
		Bash       string `json:"bash,omitempty"`
		PowerShell string `json:"powershell,omitempty"`
		Timeout    int    `json:"timeout,omitempty"`
		Seconds    int    `json:"timeoutSec,omitempty"`
	}
	if h.flat {
		return encoded(run{Type: "command", Bash: command, PowerShell: "& " + command, Seconds: h.seconds})
	}
	return encoded(struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []run  `json:"hooks"`
	}{hook.Matcher, []run{{Type: "command", Command: command, Timeout: h.seconds}}})
}

// objectIn returns a member that is an object. It adds the object if there is none.
func objectIn(o *hujson.Object, name string, style style, depth int) (*hujson.Object, error) {
	at := member(o, name)
	if at < 0 {
		inner := &hujson.Object{AfterExtra: hujson.Extra(style.line(depth))}
		add(o, name, hujson.Value{Value: inner}, style, depth)
		return inner, nil
	}
	inner, ok := o.Members[at].Value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%w: %q", errShape, name)
	}
	return inner, nil
}

// rewrite gives the hooks of copse in a list another command. It reports whether there are any, and
// whether one has changed.
func rewrite(list *hujson.Array, command string) (found, changed bool) {
	for i := range list.Elements {
		o, ok := list.Elements[i].Value.(*hujson.Object)
		if !ok {
			continue
		}
		for _, key := range []string{"command", "bash", "powershell"} {
			at := member(o, key)
			if at < 0 || !isOurs(o.Members[at].Value) {
				continue
			}
			want := command
			if key == "powershell" {
				want = "& " + command
			}
			found = true
			if text, _ := decoded(o.Members[at].Value).(string); text != want {
				o.Members[at].Value.Value, changed = hujson.Literal(encoded(want)), true
			}
		}
		if at := member(o, "hooks"); at >= 0 {
			if inner, ok := o.Members[at].Value.Value.(*hujson.Array); ok {
				f, c := rewrite(inner, command)
				found, changed = found || f, changed || c
			}
		}
	}
	return found, changed
}

// isOurs reports whether a value is the command of a hook of copse.
func isOurs(v hujson.Value) bool {
	var text string
	clone := v.Clone()
	clone.Standardize()
	return json.Unmarshal(clone.Pack(), &text) == nil && ourHook().MatchString(strings.TrimSpace(text))
}

// RemoveHooks returns text without the hooks of copse, and without the containers that are then
// empty.
func (c Client) RemoveHooks(text []byte) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return text, nil
	}
	file, root, err := parse(text)
	if err != nil {
		return nil, err
	}
	at := member(root, "hooks")
	if at < 0 {
		return text, nil
	}
	all, ok := root.Members[at].Value.Value.(*hujson.Object)
	if !ok {
		return text, nil
	}
	changed := false
	for i := range slices.Backward(all.Members) {
		list, ok := all.Members[i].Value.Value.(*hujson.Array)
		if !ok || !strip(list) {
			continue
		}
		changed = true
		if len(list.Elements) == 0 {
			drop(all, i)
		}
	}
	if !changed {
		return text, nil
	}
	if len(all.Members) == 0 && len(bytes.TrimSpace(all.AfterExtra)) == 0 {
		drop(root, at)
		if i := member(root, "version"); i >= 0 && len(root.Members) == 1 && c.ID == "copilot" {
			drop(root, i)
		}
	}
	return file.Pack(), nil
}

// strip removes the hooks of copse from a list, and reports whether there were any.
func strip(list *hujson.Array) bool {
	n := len(list.Elements)
	changed := false
	list.Elements = slices.DeleteFunc(list.Elements, func(v hujson.Value) bool {
		o, ok := v.Value.(*hujson.Object)
		if !ok {
			return false
		}
		for _, key := range []string{"command", "bash"} {
			if at := member(o, key); at >= 0 && isOurs(o.Members[at].Value) {
				return true
			}
		}
		at := member(o, "hooks")
		if at < 0 {
			return false
		}
		inner, ok := o.Members[at].Value.Value.(*hujson.Array)
		if !ok || !strip(inner) {
			return false
		}
		changed = true
		return len(inner.Elements) == 0
	})
	return changed || len(list.Elements) != n
}
