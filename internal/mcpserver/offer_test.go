package mcpserver_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/toolset"
)

// offerOf returns n prompts, whose names differ from set to set.
func offerOf(set string, n int) *toolset.Offer {
	o := &toolset.Offer{}
	for i := range n {
		name := fmt.Sprintf("%s-%03d", set, i)
		o.Prompts = append(o.Prompts, toolset.Prompt{
			Name: name,
			Arguments: []toolset.Argument{{
				Name:     "a",
				Complete: func(context.Context, string, map[string]string) ([]string, error) { return []string{name}, nil },
			}},
			Get: func(context.Context, map[string]string) (string, error) { return "text of " + name, nil },
		})
	}
	return o
}

var cursorPattern = regexp.MustCompile(`"nextCursor":"([^"]+)"`)

// Prompts that change are listed as they are, in pages, and clients are notified.
func TestOffers(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[toolset.Offer]
	now.Store(offerOf("old", 120))
	set := toolset.Toolset{Name: "toys", Offer: func(context.Context) *toolset.Offer { return now.Load() }}
	c := start(t, mcpserver.Options{Name: "t", Version: "1", Toolsets: []toolset.Toolset{set}})
	hello := c.initialize("2025-11-25")
	if !strings.Contains(hello, `"prompts":{"listChanged":true}`) {
		t.Errorf("the server does not say that prompts change: %s", hello)
	}
	ask := func(method, params string) string {
		t.Helper()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
		for {
			if line := c.line(); strings.Contains(line, `"id":1,`) {
				return line
			}
		}
	}
	first := ask("prompts/list", `{}`)
	cursor := cursorPattern.FindStringSubmatch(first)
	if cursor == nil {
		t.Fatalf("120 prompts come in one page: %s", first)
	}
	second := ask("prompts/list", fmt.Sprintf(`{"cursor":%q}`, cursor[1]))
	if diff := cmp.Diff([]int{100, 20}, []int{strings.Count(first, `"name":"old`), strings.Count(second, `"name":"old`)}); diff != "" {
		t.Error(diff)
	}
	for _, q := range []struct{ method, params, want string }{
		{"prompts/get", `{"name":"old-119"}`, "text of old-119"},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"old-001"},"argument":{"name":"a","value":""}}`, `["old-001"]`},
	} {
		if got := ask(q.method, q.params); !strings.Contains(got, q.want) {
			t.Errorf("%s %s: %s", q.method, q.params, got)
		}
	}

	now.Store(offerOf("new", 1))
	for _, q := range []struct{ method, params, want string }{
		{"prompts/list", `{}`, `"prompts":[{"arguments":[{"name":"a"}],"name":"new-000"}]`},
		{"prompts/get", `{"name":"old-119"}`, `"error"`},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"old-001"},"argument":{"name":"a","value":""}}`, `"error"`},
	} {
		if got := ask(q.method, q.params); !strings.Contains(got, q.want) {
			t.Errorf("after the change, %s %s: %s", q.method, q.params, got)
		}
	}
}

func TestOfferWithoutPrompts(t *testing.T) {
	t.Parallel()
	offered := offerOf("x", 2)
	set := toolset.Toolset{Name: "toys", Offer: func(context.Context) *toolset.Offer { return offered }}
	if rest := toolset.Without([]toolset.Toolset{set}, []string{"prompts"})[0]; rest.Offer != nil {
		t.Error("prompts are offered")
	}
}
