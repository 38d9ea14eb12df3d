package jsonfile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/jsonfile"
)

func TestMeasure(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]jsonfile.Size{
		``:                                  {},
		`7`:                                 {},
		`"[{,"`:                             {},
		`"\"[{,"`:                           {},
		`"\\",[`:                            {Values: 2, Depth: 1},
		`[]`:                                {Values: 1, Depth: 1},
		`[1,2,3]`:                           {Values: 3, Longest: 3, Depth: 1},
		`{"a":[1,{"b,":"\\\",\\"}],"c":{}}`: {Values: 6, Longest: 2, Depth: 3},
		`]],"open`:                          {Values: 1},
	} {
		if got := jsonfile.Measure([]byte(text)); got != want {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

// A file with many small values is refused before it is decoded.
func TestManyValues(t *testing.T) {
	t.Parallel()
	type row struct{ A, B *string }
	for _, each := range []string{"{}", "0", `{"A":"x"}`, "[]"} {
		text := "[" + strings.Repeat(each+",", jsonfile.MaxValues) + each + "]"
		if _, err := jsonfile.Decode[[]row]([]byte(text)); err == nil || !strings.Contains(err.Error(), "at most 1000000 are read") {
			t.Errorf("%s: %v", each, err)
		}
	}
	text := "[" + strings.Repeat("{},", jsonfile.MaxValues/2-1) + "{}]"
	if rows, err := jsonfile.Decode[[]row]([]byte(text)); err != nil || len(rows) != jsonfile.MaxValues/2 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if _, err := jsonfile.Decode[json.RawMessage]([]byte("[" + strings.Repeat("0,", jsonfile.MaxValues) + "0]")); err == nil {
		t.Error("text that is not decoded has no limit")
	}
}
