package fact_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/copse-dev/copse/internal/fact"
)

var noon = time.Date(2026, 1, 2, 13, 4, 5, 999, time.FixedZone("", 3600))

// encode marshals v as results are: without HTML escapes.
func encode(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

func TestJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		fact any
		want string
	}{
		{"known", fact.Known("a<b", "GitHub", noon), `{"state":"known","value":"a<b","source":"GitHub","as_of":"2026-01-02T12:04:05Z"}`},
		{"known zero", fact.Known(0, "git", time.Time{}), `{"state":"known","value":0,"source":"git"}`},
		{"known false", fact.Known(false, "", noon), `{"state":"known","value":false,"as_of":"2026-01-02T12:04:05Z"}`},
		{"known structure", fact.Known([]string{"a"}, "", time.Time{}), `{"state":"known","value":["a"]}`},
		{"none", fact.None[string]("", time.Time{}), `{"state":"none"}`},
		{"none with source", fact.None[string]("GitHub", noon), `{"state":"none","source":"GitHub","as_of":"2026-01-02T12:04:05Z"}`},
		{"unavailable", fact.Unavailable[int]("no network", "try again"), `{"state":"unavailable","reason":"no network","hint":"try again"}`},
		{"unavailable without hint", fact.Unavailable[int]("no network", ""), `{"state":"unavailable","reason":"no network"}`},
		{"zero value", fact.Fact[string]{}, `{"state":"unavailable","reason":"not asked"}`},
		{"in a structure", struct{ F fact.Fact[string] }{fact.Known("&", "", time.Time{})}, `{"F":{"state":"known","value":"&"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, encode(t, tt.fact)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestJSONComesBack(t *testing.T) {
	t.Parallel()
	second := noon.UTC().Truncate(time.Second)
	for _, want := range []fact.Fact[int]{
		fact.Known(7, "GitHub", second), fact.None[int]("GitHub", second), fact.Unavailable[int]("no network", "try again"),
	} {
		var got fact.Fact[int]
		if err := json.Unmarshal([]byte(encode(t, want)), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// A schema made from the type must accept each of the three answers.
func TestSchemaFits(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.For[fact.Fact[int]](nil)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []fact.Fact[int]{
		{}, fact.Known(0, "GitHub", noon), fact.None[int]("", time.Time{}), fact.Unavailable[int]("no network", "try again"),
	} {
		var v any
		if err := json.Unmarshal([]byte(encode(t, f)), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("%s: %v", encode(t, f), err)
		}
	}
}

func TestGetAndWhy(t *testing.T) {
	t.Parallel()
	type answer struct {
		Value int
		Known bool
		Why   string
	}
	for name, tt := range map[string]struct {
		fact fact.Fact[int]
		want answer
	}{
		"known":       {fact.Known(7, "", noon), answer{7, true, ""}},
		"none":        {fact.None[int]("", noon), answer{}},
		"unavailable": {fact.Unavailable[int]("no network", ""), answer{Why: "no network"}},
		"zero":        {fact.Fact[int]{}, answer{Why: "not asked"}},
	} {
		var got answer
		got.Value, got.Known = tt.fact.Get()
		got.Why = tt.fact.Why()
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]string{
		-time.Hour:                      "some time ago",
		-time.Minute:                    "just now", // clocks differ a little
		0:                               "just now",
		59 * time.Second:                "just now",
		time.Minute:                     "1 min ago",
		3*time.Minute + 59*time.Second:  "3 min ago",
		time.Hour:                       "1 h ago",
		47*time.Hour + 59*time.Minute:   "47 h ago",
		48 * time.Hour:                  "2 days ago",
		400*24*time.Hour + 23*time.Hour: "400 days ago",
	} {
		if got := fact.Age(noon.Add(-age), noon); got != want {
			t.Errorf("%v: got %q, want %q", age, got, want)
		}
	}
	if got := fact.Age(time.Time{}, noon); got != "" {
		t.Errorf("zero time: got %q, want nothing", got)
	}
}
