package mcpserver_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/toolset"
)

// measured answers with how much room its caller has, in two blocks of text and as an object.
type measured struct{}

func (measured) OK(room int) (toolset.Result, error) {
	return toolset.Result{Text: []string{fmt.Sprint(room), "more"}, Structured: fmt.Appendf(nil, `{"room":%d}`, room)}, nil
}

func (measured) Fail(err error) toolset.Result {
	return toolset.Result{Text: []string{err.Error(), "Try again."}, IsError: true}
}

func (measured) Schema() *jsonschema.Schema { return nil }

// Each client gets answers that it hands to its model whole, and each model every fact once.
func TestResultsFitTheClient(t *testing.T) {
	t.Parallel()
	set := toolset.Toolset{Name: "toys", Tools: []toolset.Tool{toolset.New(measured{}, toolset.Spec{Name: "measure"}, func(ctx context.Context, _ struct{}) (int, error) {
		return toolset.RoomFor(ctx, 100_000), nil
	})}}
	const two = `{"type":"text","text":"%d"},{"type":"text","text":"more"}`
	for client, want := range map[string]string{
		"unknown":               fmt.Sprintf(two, 100_000),
		"codex-mcp-client":      fmt.Sprintf(two, 11_000),
		"gemini-cli-mcp-client": fmt.Sprintf(two, 38_000),
		"claude-code":           fmt.Sprintf(two, 48_000),
		"opencode":              fmt.Sprintf(two, 49_000),
		"qwen-code-mcp-client":  fmt.Sprintf(two, 23_500),
		"copilot-cli":           `{"type":"text","text":"more"}`, // the rest is in the other half
		// The client adds the name of the server to its own.
		"qwen-cli-mcp-client-copse": `{"type":"text","text":"more"}`,
	} {
		for _, era := range []string{"2025-11-25", "2026-07-28"} {
			c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{set}})
			meta := ""
			if era == "2026-07-28" {
				meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"` + client + `","version":"1"}}`
			} else {
				c.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"` + client + `","version":"1"}}}`)
				c.line()
			}
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"measure"` + meta + `}}`)
			_, rest, _ := strings.Cut(c.line(), `"content":[`)
			got, _, _ := strings.Cut(rest, `]`)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s of %s: %s", client, era, diff)
			}
			c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"measure","arguments":{"x":1}` + meta + `}}`)
			separate := strings.Contains(c.line(), `\n"},{"type":"text","text":"Try again."`)
			if joins := client == "copilot-cli"; separate != joins {
				t.Errorf("%s of %s: the blocks of an error end with a newline: %v", client, era, separate)
			}
		}
	}
}

// The digest of a skill is that of the text that a client reads, which has no secrets.
func TestSkillsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	var secrets secret.Set
	secrets.Add("hunter2hunter2")
	set := toolset.Toolset{Name: "toys", Skills: func(context.Context) []toolset.Skill {
		return []toolset.Skill{{
			Name: "a-b", Description: "Log in with hunter2hunter2",
			Read: func(context.Context) (string, error) { return "---\nname: a-b\n---\nUse hunter2hunter2.\n", nil },
		}}
	}}
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{set}, Secrets: &secrets})
	c.initialize("2025-11-25")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"skills/get","params":{"uri":"skill://a-b/SKILL.md"}}`)
	entry := c.line()
	c.send(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"skill://a-b/SKILL.md"}}`)
	file := c.line()
	if strings.Contains(entry+file, "hunter2") {
		t.Errorf("a secret leaves the server:\n%s\n%s", entry, file)
	}
	var read struct {
		Result struct{ Contents []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(file), &read); err != nil || len(read.Result.Contents) != 1 {
		t.Fatal(err, file)
	}
	sum := sha256.Sum256([]byte(read.Result.Contents[0].Text))
	if !strings.Contains(entry, "sha256:"+hex.EncodeToString(sum[:])) {
		t.Errorf("the digest is not that of the text:\n%s\n%s", entry, file)
	}
}

// The texts of every list are cleaned, and the lists themselves stay as they were offered.
func TestListsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	const word = "hunter2hunter2"
	var secrets secret.Set
	secrets.Add(word)
	argument := toolset.Argument{
		Name: "who", Description: "As " + word,
		Complete: func(context.Context, string, map[string]string) ([]string, error) { return []string{"x-" + word}, nil },
	}
	get := func(context.Context, map[string]string) (string, error) { return "Log in with " + word, nil }
	offered := &toolset.Offer{Prompts: []toolset.Prompt{{Name: "p", Title: word, Description: "Use " + word, Arguments: []toolset.Argument{argument}, Get: get}}}
	set := toolset.Toolset{
		Name:      "toys",
		Offer:     func(context.Context) *toolset.Offer { return offered },
		Resources: []toolset.Resource{{URI: "toy://a", Name: "a", Title: word, Description: "At " + word}},
		Skills: func(context.Context) []toolset.Skill {
			return []toolset.Skill{{Name: "s", Description: "Log in with " + word, Read: func(context.Context) (string, error) { return "text", nil }}}
		},
	}
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{set}, Secrets: &secrets})
	c.initialize("2025-11-25")
	for request, want := range map[string]string{
		`"prompts/list"`:                      `"description":"As `,
		`"prompts/get","params":{"name":"p"}`: `"description":"Use `,
		`"resources/list"`:                    `"description":"At `,
		`"skills/list"`:                       `"description":"Log in with `,
		`"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"who","value":""}}`: `"values":["x-`,
	} {
		c.send(`{"jsonrpc":"2.0","id":1,"method":` + request + `}`)
		if line := c.line(); !strings.Contains(line, want) || strings.Contains(line, "hunter2") {
			t.Errorf("%s: want %s, and no secret: %s", request, want, line)
		}
	}
	if offered.Prompts[0].Title != word {
		t.Errorf("the offer itself was changed to %q", offered.Prompts[0].Title)
	}
}

// A message about progress has no half of a secret, wherever it is cut.
func TestProgressHasNoHalfOfASecret(t *testing.T) {
	t.Parallel()
	var secrets secret.Set
	secrets.Add("hunter2hunter2")
	set := toolset.Toolset{Name: "toys", Tools: []toolset.Tool{toolset.New(measured{}, toolset.Spec{Name: "report"}, func(ctx context.Context, _ struct{}) (int, error) {
		toolset.Progress(ctx)(strings.Repeat("x", 193) + "hunter2hunter2 and more")
		return 1, nil
	})}}
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{set}, Secrets: &secrets})
	c.initialize("2025-11-25")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report","_meta":{"progressToken":7}}}`)
	if got := c.line(); !strings.Contains(got, "notifications/progress") || !strings.Contains(got, "xxx") || strings.Contains(got, "hunt") || len(got) > 400 {
		t.Errorf("got %s", got)
	}
}

// What a handler leaves running ends with its answer, and reports no more progress.
func TestCallEndsWithItsAnswer(t *testing.T) {
	t.Parallel()
	left := make(chan context.Context, 1)
	set := toolset.Toolset{Name: "toys", Tools: []toolset.Tool{toolset.New(measured{}, toolset.Spec{Name: "leave"}, func(ctx context.Context, _ struct{}) (int, error) {
		left <- ctx
		return 1, nil
	})}}
	c := start(t, mcpserver.Options{Toolsets: []toolset.Toolset{set}})
	c.initialize("2025-11-25")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"leave","_meta":{"progressToken":7}}}`)
	c.line()
	if ctx := <-left; ctx.Err() == nil { // canceled before the answer is written, without a race
		t.Error("the call's context outlives its answer")
	}
}
