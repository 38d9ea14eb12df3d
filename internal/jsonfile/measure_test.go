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
		`"\\",[`:                            {Values: 2, Containers: 1, Depth: 1},
		`[]`:                                {Values: 1, Containers: 1, Depth: 1},
		`[1,2,3]`:                           {Values: 3, Containers: 1, Longest: 3, Depth: 1},
		`{"a":[1,{"b,":"\\\",\\"}],"c":{}}`: {Values: 6, Containers: 4, Longest: 2, Depth: 3},
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
	for each, most := range map[string]string{
		"0": "2000000", "{}": "500000", `{"A":"x"}`: "500000", "[]": "500000",
	} {
		text := "[" + strings.Repeat(each+",", jsonfile.MaxValues) + each + "]"
		if each != "0" {
			text = "[" + strings.Repeat(each+",", jsonfile.MaxContainers) + each + "]"
		}
		if _, err := jsonfile.Decode[[]row]([]byte(text)); err == nil || !strings.Contains(err.Error(), "at most "+most) {
			t.Errorf("%s: %v", each, err)
		}
	}
	text := "[" + strings.Repeat("{},", jsonfile.MaxContainers-2) + "{}]"
	if rows, err := jsonfile.Decode[[]row]([]byte(text)); err != nil || len(rows) != jsonfile.MaxContainers-1 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if _, err := jsonfile.Decode[json.RawMessage]([]byte("[" + strings.Repeat("0,", jsonfile.MaxValues) + "0]")); err == nil {
		t.Error("text that is not decoded has no limit")
	}
}
