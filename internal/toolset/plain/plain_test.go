package plain_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
)

type none struct{}

// object calls a tool that answers with out.
func object[Out any](t *testing.T, s plain.Style, out Out) toolset.Result {
	t.Helper()
	tool := plain.Object(s, toolset.Spec{Name: "x"}, func(context.Context, none) (Out, error) { return out, nil })
	return tool.Call(t.Context(), nil)
}

func TestObject(t *testing.T) {
	t.Parallel()
	type out struct {
		A any   `json:"a"`
		B []int `json:"b,omitempty"`
	}
	for name, tt := range map[string]struct {
		style            plain.Style
		out              out
		text, structured string
	}{
		"compact":  {plain.Style{}, out{A: "<&>"}, `{"a":"<&>"}`, `{"a":"<&>"}`},
		"indented": {plain.Style{Indent: "  "}, out{A: []int{}, B: []int{1}}, "{\n  \"a\": [],\n  \"b\": [\n    1\n  ]\n}", `{"a":[],"b":[1]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := toolset.Result{Text: []string{tt.text}, Structured: json.RawMessage(tt.structured)}
			if diff := cmp.Diff(want, object(t, tt.style, tt.out)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := object(t, plain.Style{}, out{A: func() {}}); !got.IsError {
		t.Errorf("an output that cannot be encoded gives %v", got)
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	n := func(n int) *int { return &n }
	for name, tt := range map[string]struct {
		style      plain.Style
		list       plain.List[any]
		text       []string
		structured string
	}{
		"list":         {plain.Style{}, plain.List[any]{Rows: []any{1, 2}, ListInfo: plain.ListInfo{Total: n(2)}}, []string{`[1,2]`}, `{"items":[1,2],"total":2}`},
		"empty":        {plain.Style{Indent: "  "}, plain.List[any]{ListInfo: plain.ListInfo{Total: n(0)}}, []string{`[]`}, `{"items":[],"total":0}`},
		"cut":          {plain.Style{}, plain.List[any]{Rows: []any{1, 2}, ListInfo: plain.ListInfo{Total: n(9), NextCursor: "abc"}}, []string{`[1,2]`, "Showing 2 of 9. Next: cursor=abc"}, `{"items":[1,2],"total":9,"next_cursor":"abc"}`},
		"warnings":     {plain.Style{}, plain.List[any]{Rows: []any{1}, ListInfo: plain.ListInfo{Total: n(1), Warnings: []string{"a", "b"}}}, []string{`[1]`, "Warning: a\nWarning: b"}, `{"items":[1],"total":1,"warnings":["a","b"]}`},
		"last page":    {plain.Style{}, plain.List[any]{Rows: []any{1, 2}, ListInfo: plain.ListInfo{Total: n(9)}}, []string{`[1,2]`, "Showing the last 2 of 9."}, `{"items":[1,2],"total":9}`},
		"cut for good": {plain.Style{}, plain.List[any]{Rows: []any{1}, ListInfo: plain.ListInfo{Total: n(5), Omitted: 3}}, []string{`[1]`, "Left out: 3 of 5. Ask for less."}, `{"items":[1],"total":5,"omitted":3}`},
		"not counted":  {plain.Style{}, plain.List[any]{Rows: []any{1, 2}}, []string{`[1,2]`}, `{"items":[1,2]}`},
		"markup":       {plain.Style{}, plain.List[any]{Rows: []any{"<&>"}}, []string{`["<&>"]`}, `{"items":["<&>"]}`},
		"indented":     {plain.Style{Indent: "  "}, plain.List[any]{Rows: []any{1}}, []string{"[\n  1\n]"}, `{"items":[1]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tool := plain.Rows(tt.style, "items", "Ask for less.", toolset.Spec{Name: "x"}, func(context.Context, none) (plain.List[any], error) { return tt.list, nil })
			want := toolset.Result{Text: tt.text, Structured: json.RawMessage(tt.structured)}
			if diff := cmp.Diff(want, tool.Call(t.Context(), nil)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	type row struct {
		ID int `json:"id"`
	}
	tool := plain.Rows(plain.Style{}, "items", "", toolset.Spec{Name: "x"}, func(context.Context, none) (plain.List[row], error) { return plain.List[row]{}, nil })
	if got, want := tool.Result(), "{items: [{id}], total?, next_cursor?, omitted?, warnings?: […]}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFail(t *testing.T) {
	t.Parallel()
	worded := plain.Style{Message: func(err error) string { return "worded: " + err.Error() }}
	advised := plain.Style{NextStep: func(error) string { return "Try again." }}
	for _, tt := range []struct {
		want []string
		got  toolset.Result
	}{
		{[]string{"no luck"}, plain.Style{}.Fail(errors.New("no luck"))},
		{[]string{"worded: no luck"}, worded.Fail(errors.New("no luck"))},
		{[]string{"wrong"}, worded.Fail(&toolset.ArgumentError{Message: "wrong"})},
		{[]string{"wrong. Do better."}, worded.Fail(&toolset.ArgumentError{Message: "wrong", Hint: "Do better."})},
		{[]string{"no luck", "Try again."}, advised.Fail(errors.New("no luck"))},
	} {
		if diff := cmp.Diff(toolset.Result{Text: tt.want, IsError: true}, tt.got); diff != "" {
			t.Error(diff)
		}
	}
}

// An object with a worktree of its own says so, as long as the member is encoded.
func TestOwnWorktree(t *testing.T) {
	t.Parallel()
	type linked struct {
		Worktree string `json:"worktree,omitempty"`
	}
	type item struct {
		ID int `json:"id"`
		*linked
	}
	type plainly struct {
		Worktree *string `json:"worktree"`
	}
	check := func(name string, want bool, call func() toolset.Result) {
		if res := call(); res.OwnWorktree != want || strings.Contains(string(res.Structured), `"worktree"`) != want {
			t.Errorf("%s: got %v for %s, want %v", name, res.OwnWorktree, res.Structured, want)
		}
	}
	check("linked", true, func() toolset.Result { return object(t, plain.Style{}, item{1, &linked{"../x"}}) })
	check("not linked", false, func() toolset.Result { return object(t, plain.Style{}, item{1, &linked{}}) })
	check("nothing embedded", false, func() toolset.Result { return object(t, plain.Style{}, item{ID: 1}) })
	check("always there", true, func() toolset.Result { return object(t, plain.Style{}, plainly{}) })
	check("deeper inside", false, func() toolset.Result { return object(t, plain.Style{}, map[string]int{"id": 1}) })
}
