package plain_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
)

func TestOK(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		shape plain.Shape
		data  string
		want  []string
	}{
		"object":            {plain.Shape{}, `{"a":"<&>"}`, []string{`{"a":"<&>"}`}},
		"indented":          {plain.Shape{Indent: "  "}, `{"a":[1],"b":[]}`, []string{"{\n  \"a\": [\n    1\n  ],\n  \"b\": []\n}"}},
		"list":              {plain.Shape{List: "items"}, `{"items":[1,2],"total":2}`, []string{`[1,2]`}},
		"empty list":        {plain.Shape{Indent: "  ", List: "items"}, `{"items":[],"total":0}`, []string{`[]`}},
		"cut list":          {plain.Shape{List: "items"}, `{"items":[1,2],"total":9,"next_cursor":"abc"}`, []string{`[1,2]`, "Showing 2 of 9. Next: cursor=abc"}},
		"warnings":          {plain.Shape{List: "items"}, `{"items":[1],"total":1,"warnings":["a","b"]}`, []string{`[1]`, "Warning: a\nWarning: b"}},
		"cut and warned":    {plain.Shape{List: "x"}, `{"x":[1],"total":2,"next_cursor":"c","warnings":["a"]}`, []string{`[1]`, "Showing 1 of 2. Next: cursor=c\nWarning: a"}},
		"last page":         {plain.Shape{List: "items"}, `{"items":[1,2],"total":9}`, []string{`[1,2]`, "Showing the last 2 of 9."}},
		"cut for good":      {plain.Shape{List: "x"}, `{"x":[1],"total":5,"omitted":3}`, []string{`[1]`, "Left out: 3 of 5."}},
		"advice":            {plain.Shape{List: "x", Advice: "Ask for less."}, `{"x":[1],"total":5,"omitted":3}`, []string{`[1]`, "Left out: 3 of 5. Ask for less."}},
		"not counted":       {plain.Shape{List: "x"}, `{"x":[1,2]}`, []string{`[1,2]`}},
		"a list of its own": {plain.Shape{List: "items"}, `{"items":[{"items":[7]}],"total":1}`, []string{`[{"items":[7]}]`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tt.shape.OK(json.RawMessage(tt.data))
			if diff := cmp.Diff(toolset.Result{Text: tt.want, Structured: json.RawMessage(tt.data)}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := (plain.Shape{List: "items"}).OK(json.RawMessage(`{"other":[]}`)); !got.IsError {
		t.Errorf("data without its list gives %v", got)
	}
}

func TestFail(t *testing.T) {
	t.Parallel()
	worded := plain.Shape{Message: func(err error) string { return "worded: " + err.Error() }}
	for want, got := range map[string]toolset.Result{
		"no luck":           plain.Shape{}.Fail(errors.New("no luck")),
		"worded: no luck":   worded.Fail(errors.New("no luck")),
		"wrong":             worded.Fail(&toolset.ArgumentError{Message: "wrong"}),
		"wrong. Do better.": worded.Fail(&toolset.ArgumentError{Message: "wrong", Hint: "Do better."}),
	} {
		if diff := cmp.Diff(toolset.Result{Text: []string{want}, IsError: true}, got); diff != "" {
			t.Error(diff)
		}
	}
}
