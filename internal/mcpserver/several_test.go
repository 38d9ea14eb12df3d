package mcpserver_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/envelope"
)

// estate has a worktree of each of several repositories.
type estate struct {
	mu sync.Mutex
	at map[string]*route.Worktree
}

func newEstate(changes map[string]chan struct{}) *estate {
	e := &estate{at: map[string]*route.Worktree{}}
	for dir, changed := range changes {
		e.at[dir] = route.NewWorktree(farm(dir[1:], changed), func() string { return dir })
	}
	return e
}

func (e *estate) close(dir string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.at, dir)
}

func (*estate) Follows() bool { return true }

func (*estate) Start() *route.Worktree { return nil }

func (e *estate) Find(_ context.Context, _ string, dirs []string) (*route.Worktree, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(dirs) > 0 && e.at[dirs[0]] != nil {
		return e.at[dirs[0]], nil
	}
	return nil, &toolset.ArgumentError{Name: "worktree", Message: "This session is in no worktree that is served"}
}

// farm is what the worktree of a repository serves. Its names and texts contain the repository's.
func farm(name string, changed <-chan struct{}) []toolset.Toolset {
	values := func(context.Context, string, map[string]string) ([]string, error) {
		return []string{name + "-value"}, nil
	}
	argument := []toolset.Argument{{Name: "x", Complete: values}}
	text := func(context.Context) (string, error) { return name + "-text", nil }
	prompt := func(of string) toolset.Prompt {
		return toolset.Prompt{Name: of, Description: of + "-description", Arguments: argument, Get: func(ctx context.Context, _ map[string]string) (string, error) { return text(ctx) }}
	}
	return []toolset.Toolset{{
		Name: "farm", Located: true,
		Tools: []toolset.Tool{envelope.Tool(envelope.Form{}, toolset.Spec{Name: name + "-tool", Title: "t", Description: "t"},
			func(context.Context, echoIn) (echoOut, error) { return echoOut{Text: name + "-answer"}, nil })},
		Prompts: []toolset.Prompt{prompt("common")},
		Offer: func(context.Context) *toolset.Offer {
			return &toolset.Offer{Prompts: []toolset.Prompt{prompt(name + "-prompt")}}
		},
		Skills: func(context.Context) []toolset.Skill {
			return []toolset.Skill{{Name: name + "-skill", Description: "d", Read: text}}
		},
		Resources: []toolset.Resource{
			{URI: "farm://" + name, Name: "own", Read: text},
			{URI: "farm://common", Name: "common", Read: text, Watch: func(ctx context.Context, update func()) error {
				for {
					select {
					case <-ctx.Done():
						return nil
					case <-changed:
						update()
					}
				}
			}},
		},
		Templates: []toolset.Template{{URITemplate: "farm://of/{x}", Name: "of", Variables: argument, Read: func(ctx context.Context, _ map[string]string) (string, error) { return text(ctx) }}},
	}}
}

// A server of several repositories shows a session nothing of another repository, whatever it asks for.
func TestSeveralRepositories(t *testing.T) {
	t.Parallel()
	changes := map[string]chan struct{}{"/left": make(chan struct{}), "/right": make(chan struct{})}
	all := newEstate(changes)
	server := mcpserver.Options{Name: "x", Version: "1", Toolsets: farm("left", nil), Worktrees: all, Logger: slog.New(slog.DiscardHandler)}
	requests := map[string]string{
		"prompts/list":                 ``,
		"prompts/get common":           `"name":"common"`,
		"prompts/get left":             `"name":"left-prompt"`,
		"prompts/get right":            `"name":"right-prompt"`,
		"completion/complete common":   `"ref":{"type":"ref/prompt","name":"common"},"argument":{"name":"x","value":""}`,
		"completion/complete left":     `"ref":{"type":"ref/prompt","name":"left-prompt"},"argument":{"name":"x","value":""}`,
		"completion/complete right":    `"ref":{"type":"ref/prompt","name":"right-prompt"},"argument":{"name":"x","value":""}`,
		"completion/complete template": `"ref":{"type":"ref/resource","uri":"farm://of/{x}"},"argument":{"name":"x","value":""}`,
		"completion/complete skill":    `"ref":{"type":"ref/resource","uri":"skill://{name}/SKILL.md"},"argument":{"name":"name","value":""}`,
		"skills/list":                  ``,
		"skills/get left":              `"uri":"skill://left-skill/SKILL.md"`,
		"resources/read":               `"uri":"farm://common"`,
		"resources/read left":          `"uri":"farm://left"`,
		"resources/read template":      `"uri":"farm://of/a"`,
		"tools/call":                   `"name":"left-tool","arguments":{"text":"a"}`,
	}
	for dir, own := range map[string]string{
		"/left": "left", "/right": "right", "/elsewhere": "", "": "", "file:///left": "left", "file:///right/100%": "", "vscode-remote://ssh+x/left": "", "file://host/left": "", "left": "",
	} {
		for _, modern := range []bool{false, true} {
			c := start(t, server)
			meta := `"_meta":{`
			if dir != "" {
				meta += `"codex/sandbox-state-meta":{"sandboxCwd":"` + dir + `"},`
			}
			if modern {
				meta += `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{}}}`
			} else {
				c.initialize("2025-06-18")
				meta = strings.TrimSuffix(meta, ",") + "}"
			}
			for _, name := range slices.Sorted(maps.Keys(requests)) {
				method, _, _ := strings.Cut(name, " ")
				params := requests[name]
				if params != "" {
					params += ","
				}
				c.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + meta + `}}`)
				answer := c.line()
				for _, of := range []string{"left", "right"} {
					for _, what := range []string{"value", "description", "text", "answer", "skill\"", "prompt\",\"desc"} {
						if of != own && strings.Contains(answer, of+"-"+what) {
							t.Errorf("in %q, modern %t: %s has what is %s's: %s", dir, modern, name, of, answer)
						}
					}
				}
				if own == "" || own == "right" && strings.HasSuffix(name, " left") || own == "left" && strings.HasSuffix(name, " right") || own == "right" && name == "tools/call" {
					continue
				}
				if !strings.Contains(answer, own+"-") {
					t.Errorf("in %q, modern %t: %s lacks what is its own: %s", dir, modern, name, answer)
				}
			}
		}
	}
}

// An update reaches the sessions that are subscribed to the resource of that worktree.
func TestUpdatesOfSeveralRepositories(t *testing.T) {
	t.Parallel()
	changes := map[string]chan struct{}{"/left": make(chan struct{}), "/right": make(chan struct{})}
	all := newEstate(changes)
	c := start(t, mcpserver.Options{Name: "x", Version: "1", Toolsets: farm("left", nil), Worktrees: all, Logger: slog.New(slog.DiscardHandler)})
	c.initialize("2025-06-18")
	subscribe := func(dir string) string {
		c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"farm://common","_meta":{"codex/sandbox-state-meta":{"sandboxCwd":"` + dir + `"}}}}`)
		return c.line()
	}
	if got := subscribe("/elsewhere"); !strings.Contains(got, "does not report its worktree") {
		t.Errorf("got %s", got)
	}
	for _, dir := range []string{"/right", "/left", "/left"} {
		if got := subscribe(dir); strings.Contains(got, "error") {
			t.Errorf("%s: %s", dir, got)
		}
	}
	select {
	case changes["/right"] <- struct{}{}:
		t.Error("the worktree that the session has left is watched")
	case changes["/left"] <- struct{}{}:
	}
	if got := c.line(); !strings.Contains(got, "notifications/resources/updated") {
		t.Errorf("got %s", got)
	}
	all.close("/left")
	changes["/left"] <- struct{}{}
	changes["/left"] <- struct{}{} // the one before was handled
	c.send(`{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"farm://common"}}`)
	if got := c.line(); strings.Contains(got, "error") || strings.Contains(got, "updated") {
		t.Errorf("got %s", got)
	}
	select {
	case changes["/left"] <- struct{}{}:
		t.Error("the worktree is still watched")
	default:
	}
}

// A session whose directory has an address elsewhere is in no repository, even if only one is served.
func TestOddAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"file:///left/100%", "vscode-remote://ssh+x/left", "file://host/left", "left", "7"} {
		locator := &route.Locator{Find: sole{route.NewWorktree(farm("left", nil), func() string { return "/left" })}}
		meta := mcp.Meta{route.CodexSandbox: map[string]any{"sandboxCwd": address}}
		if at, _, err := locator.Of(t.Context(), route.Caller{Meta: meta}, "left"); err == nil || at != nil || !strings.Contains(err.Error(), address) {
			t.Errorf("%s: %v, %v", address, at, err)
		}
		if at, err := locator.Told(t.Context(), meta); err == nil || at != nil {
			t.Errorf("%s: %v, %v", address, at, err)
		}
		if at, _, err := locator.Of(t.Context(), route.Caller{}, ""); err != nil || at == nil {
			t.Errorf("without an address: %v, %v", at, err)
		}
	}
}

// sole is one served worktree of a server for several.
type sole struct{ at *route.Worktree }

func (sole) Follows() bool { return true }

func (sole) Start() *route.Worktree { return nil }

func (s sole) Find(context.Context, string, []string) (*route.Worktree, error) { return s.at, nil }
