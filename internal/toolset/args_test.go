package toolset_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/toolset"
)

type in struct {
	Name  string   `json:"name" description:"Who."`
	State string   `json:"state,omitempty" enum:"open,closed"`
	Limit int      `json:"limit,omitempty" min:"1" max:"100" default:"30"`
	PR    *uint32  `json:"pr,omitempty" min:"1"`
	Tags  []string `json:"tags,omitempty"`
	All   bool     `json:"all,omitempty"`
	Parts []string `json:"parts,omitempty" enum:"head,tail"`
}

type out struct {
	Got in `json:"got"`
}

// bare is a shape that shows data and errors as they are.
type bare[Out any] struct{}

func (bare[Out]) OK(out Out) (toolset.Result, error) {
	data, err := toolset.Marshal(out)
	return toolset.Result{Structured: data}, err
}
func (bare[Out]) Schema() *jsonschema.Schema { return nil }
func (bare[Out]) Fail(err error) toolset.Result {
	if arg, ok := errors.AsType[*toolset.ArgumentError](err); ok {
		return toolset.Result{Text: []string{arg.Message}, IsError: true}
	}
	return toolset.Result{Text: []string{"other: " + err.Error()}, IsError: true}
}

func echo() toolset.Tool {
	return toolset.New(bare[out]{}, toolset.Spec{Name: "echo"}, func(_ context.Context, i in) (out, error) { return out{i}, nil })
}

func TestArguments(t *testing.T) {
	t.Parallel()
	tool := echo()
	for name, tt := range map[string]struct{ args, want string }{
		"least":            {`{"name":"a"}`, `{"got":{"name":"a"}}`},
		"all":              {`{"name":"a","state":"open","limit":100,"pr":7,"tags":["x"],"all":true}`, `{"got":{"name":"a","state":"open","limit":100,"pr":7,"tags":["x"],"all":true}}`},
		"null is absent":   {`{"name":"a","state":null,"pr":null,"tags":null}`, `{"got":{"name":"a"}}`},
		"whole float":      {`{"name":"a","pr":5.0,"limit":1e1}`, `{"got":{"name":"a","limit":10,"pr":5}}`},
		"last key wins":    {`{"name":"a","name":"b"}`, `{"got":{"name":"b"}}`},
		"no HTML escaping": {`{"name":"<&>"}`, `{"got":{"name":"<&>"}}`},

		"\"\" is none":       {`{"name":"a","state":"","pr":"","all":"","limit":0}`, `{"got":{"name":"a"}}`},
		"\"\" is no element": {`{"name":"a","tags":"","parts":""}`, `{"got":{"name":"a"}}`},

		"0 is none": {`{"name":"a","state":0,"pr":0,"tags":0,"all":0,"parts":0,"limit":"0"}`, `{"got":{"name":"a"}}`},

		"none":             {``, `Missing required argument "name" (a string)`},
		"null":             {`null`, `Missing required argument "name" (a string)`},
		"required is null": {`{"name":null}`, `Missing required argument "name" (a string)`},
		"unknown":          {`{"name":"a","nam":1}`, `Unknown argument "nam"; allowed: name, state, limit, pr, tags, all, parts`},
		"two unknown":      {`{"z":1,"Name":"a"}`, `Unknown arguments "Name", "z"; allowed: name, state, limit, pr, tags, all, parts`},
		"a list":           {`[1]`, `Arguments must be a JSON object, got a list`},
		"a number":         {`7`, `Arguments must be a JSON object, got 7`},
		"wrong type":       {`{"name":7}`, `Argument "name" must be a string, got 7`},
		"wrong enum":       {`{"name":"a","state":"Open"}`, `Argument "state" must be one of "open", "closed", got "Open"`},
		"wrong item":       {`{"name":"a","parts":["tail","Head"]}`, `Argument "parts" must be a list of "head", "tail", got ["tail","Head"]`},
		"too small":        {`{"name":"a","limit":-5}`, `Argument "limit" must be an integer from 1 to 100, got -5`},
		"zero is none":     {`{"name":"a","limit":0,"pr":"0"}`, `{"got":{"name":"a"}}`},
		"empty is none":    {`{"name":"a","limit":"","pr":"","state":""}`, `{"got":{"name":"a"}}`},
		"an empty item":    {`{"name":"a","parts":[""]}`, `Argument "parts" must be a list of "head", "tail", got [""]`},
		"too large":        {`{"name":"a","limit":101}`, `Argument "limit" must be an integer from 1 to 100, got 101`},
		"negative":         {`{"name":"a","pr":-1}`, `Argument "pr" must be an integer of at least 1, got -1`},
		"overflow":         {`{"name":"a","pr":4294967296}`, `Argument "pr" must be an integer of at least 1, got 4294967296`},
		"fraction":         {`{"name":"a","limit":1.5}`, `Argument "limit" must be an integer from 1 to 100, got 1.5`},
		"word for number":  {`{"name":"a","limit":"five"}`, `Argument "limit" must be an integer from 1 to 100, got the string "five"`},
		"digits":           {`{"name":"a","limit":"5"}`, `{"got":{"name":"a","limit":5}}`},
		"leading zero":     {`{"name":"a","limit":"05"}`, `Argument "limit" must be an integer from 1 to 100, got the string "05"`},
		"digits too large": {`{"name":"a","limit":"500"}`, `Argument "limit" must be an integer from 1 to 100, got 500`},
		"signed digits":    {`{"name":"a","pr":"-1"}`, `Argument "pr" must be an integer of at least 1, got the string "-1"`},
		"zero for a name":  {`{"name":0}`, `Argument "name" must be a string, got 0`},
		"list of numbers":  {`{"name":"a","tags":[1]}`, `Argument "tags" must be a list of strings, got the list [1]`},
		"not a boolean":    {`{"name":"a","all":"yes"}`, `Argument "all" must be true or false, got the string "yes"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tool.Call(t.Context(), json.RawMessage(tt.args))
			text := string(got.Structured)
			if got.IsError {
				text = got.Text[0]
			}
			if diff := cmp.Diff(tt.want, text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	tool := echo()
	got, err := json.Marshal(tool.Input())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"name":{"type":"string","description":"Who."},"state":{"type":"string","enum":["open","closed"]},"limit":{"type":"integer","default":30,"minimum":1,"maximum":100},"pr":{"type":"integer","minimum":1},"tags":{"type":"array","items":{"type":"string"}},"all":{"type":"boolean"},"parts":{"type":"array","items":{"type":"string","enum":["head","tail"]}}},"required":["name"]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	if _, err := tool.Input().Resolve(nil); err != nil {
		t.Errorf("the schema does not resolve: %v", err)
	}
}

// null is a value where an argument can be taken away.
func TestOptional(t *testing.T) {
	t.Parallel()
	type in struct {
		Parent toolset.Optional[int] `json:"parent,omitzero" min:"1"`
	}
	tool := toolset.New(bare[in]{}, toolset.Spec{Name: "x"}, func(_ context.Context, i in) (in, error) { return i, nil })
	for args, want := range map[string]string{
		`{}`:              `{}`,
		`{"parent":null}`: `{"parent":{"Set":true,"Value":0}}`,
		`{"parent":7}`:    `{"parent":{"Set":true,"Value":7}}`,
		`{"parent":7.0}`:  `{"parent":{"Set":true,"Value":7}}`,
		`{"parent":0}`:    `Argument "parent" must be an integer of at least 1, got 0`,
		`{"parent":"x"}`:  `Argument "parent" must be an integer of at least 1, got the string "x"`,
	} {
		got := tool.Call(t.Context(), json.RawMessage(args))
		text := string(got.Structured)
		if got.IsError {
			text = got.Text[0]
		}
		if diff := cmp.Diff(want, text); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
	schema, err := json.Marshal(tool.Input())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`{"type":"object","properties":{"parent":{"type":"integer","minimum":1}}}`, string(schema)); diff != "" {
		t.Error(diff)
	}
}

// even is a type with a rule of its own.
type even int

func (e *even) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, (*int)(e)); err != nil {
		return err
	}
	if *e%2 != 0 {
		return fmt.Errorf("%s is odd", data)
	}
	return nil
}

// A type's own rule is said in its own words, what JSON says in those of all.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	type in struct {
		Some []even `json:"some"`
	}
	tool := toolset.New(bare[in]{}, toolset.Spec{Name: "x"}, func(_ context.Context, i in) (in, error) { return i, nil })
	for args, want := range map[string]string{
		`{"some":[2,3]}`:   `Argument "some": 3 is odd`,
		`{"some":[2,"3"]}`: `Argument "some" must be a list of integers, got the list [2,"3"]`,
	} {
		got := tool.Call(t.Context(), json.RawMessage(args))
		if diff := cmp.Diff(toolset.Result{Text: []string{want}, IsError: true}, got); diff != "" {
			t.Errorf("%s: %s", args, diff)
		}
	}
}

// Whatever the arguments are, the outcome is a result.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"name":"a"}`, `{"name":"a","pr":1e400}`, `{"limit":-0.0,"name":""}`, `[`, `{"name":"\ud800"}`} {
		f.Add(s)
	}
	tool := echo()
	f.Fuzz(func(t *testing.T, args string) {
		got := tool.Call(t.Context(), json.RawMessage(args))
		if !got.IsError && !json.Valid(got.Structured) {
			t.Errorf("%q: %s", args, got.Structured)
		}
	})
}
