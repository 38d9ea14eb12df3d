package jsonedit_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/clientconfig/jsonedit"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]string{
		{`{"a":{"x":1,"y":2},"b":[1]}`, `{"a":{"x":3},"b":[2],"c":null}`, `{"a":{"x":3,"y":2},"b":[2],"c":null}`},
		{`{"a":{"x":1}}`, `{"a":"text"}`, `{"a":"text"}`},
		{`"text"`, `{"a":1}`, `{"a":1}`},
		{`null`, `{"a":1}`, `{"a":1}`},
		{``, `{"a":1}`, `{"a":1}`},
		{`{"a":1}`, `null`, `null`},
	} {
		if got := jsonedit.Merge([]byte(tt[0]), []byte(tt[1])); string(got) != tt[2] {
			t.Errorf("%s over %s: got %s, want %s", tt[1], tt[0], got, tt[2])
		}
	}
}
