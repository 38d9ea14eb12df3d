package jsonedit_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/clientconfig/jsonedit"
)

func Example() {
	doc, err := jsonedit.Parse([]byte("{\n  // mine\n  \"theme\": \"dark\", // nice\n}\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	servers, err := doc.Root().AddObject("servers")
	if err != nil {
		fmt.Println(err)
		return
	}
	servers.Set("copse", map[string]any{"command": "copse"})
	fmt.Printf("%s", doc.Text())
	// Output:
	// {
	//   // mine
	//   "theme": "dark", // nice
	//   "servers": {
	//     "copse": {
	//       "command": "copse"
	//     }
	//   },
	// }
}

// A text comes back byte for byte once the additions are removed again, in an object of the text and
// in one that copse added.
func TestComesBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"a": 1}`, "{\"a\": 1}\n", "{\"a\": 1}\r\n", "{}", "\n{} ", "{\n  \"a\": 1\n}", "{\n\t\"a\": 1}", "{\"a\":1,\n}", "{\"a\":1,}", "{ \"a\": 1, \"b\": [1] }",
		`{"a": 1 /* x */}`, "{\"a\": 1 // x\n}", "{\"a\": 1, // x\n  // y\n}\n", "{\"a\": 1 /* x */, \"b\": 2 /* y */,}", "{\n    \"a\": 1,\n\n    \"b\": 2\n\n}\n", "{ // all\n}",
		"// x\n{\n  \"a\": {}, // y\n  /* z */\n}", "\uFEFF{\r\n  \"a\": [\r\n  ]\r\n}", `{"servers": {"x": {"y": 1}}}`, `{"servers": {}}`, "{\"servers\": {\"x\": 1,\n},\n}", "{\"a\": 1 // it ends with */\n}",
	} {
		at := func(text []byte, change func(root, servers *jsonedit.Object)) []byte {
			doc, err := jsonedit.Parse(text)
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			servers, err := doc.Root().AddObject("servers")
			if err != nil {
				t.Fatal(err)
			}
			change(doc.Root(), servers)
			return doc.Text()
		}
		had := strings.Contains(text, "servers")
		with := at([]byte(text), func(_, servers *jsonedit.Object) { servers.Set("copse", map[string]any{"command": "copse"}) })
		if bytes.Count(with, []byte("\n")) < 2 {
			t.Errorf("%q became %q in too few lines", text, with)
		}
		without := at(with, func(root, servers *jsonedit.Object) {
			if servers.Remove("copse"); !had {
				root.Remove("servers")
			}
		})
		if string(without) != text {
			t.Errorf("%q came back as %q, and was %q", text, without, with)
		}
	}
}

// What an object is set to is what it then has.
func TestSetAndRemove(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]string{
			"{}", "{\"a\":1}", "{\r\n\t\"a\": [1, 2],\r\n}\r\n", "// x\n{\n  \"a\": {}, // y\n  /* z */\n}", "{\n    \"b\": {\"c\": null}\n}\n", "{ // all\n}", "\uFEFF{\"a\": 1}\r\n",
		}).Draw(rt, "text")
		doc, err := jsonedit.Parse([]byte(text))
		if err != nil {
			rt.Fatal(err)
		}
		before := string(doc.Text())
		if before != text {
			rt.Fatalf("%q came back as %q", text, before)
		}
		value := rapid.String().Draw(rt, "value")
		doc.Root().Set("new", value)
		again, err := jsonedit.Parse(doc.Text())
		if err != nil || again.Root().Get("new") != value {
			rt.Fatalf("%q: %v, %q", doc.Text(), err, again.Root().Get("new"))
		}
		doc.Root().Set("new", map[string]any{"x": true})
		doc.Root().Set("new", map[string]any{"y": 1.5})
		if got := string(doc.Root().Raw("new")); !doc.Root().Has("new") || doc.Root().Get("new").(map[string]any)["x"] != true {
			rt.Errorf("setting another member of an object left %s", got)
		}
	})
}

// The values of lists are found and removed by what they contain.
func TestList(t *testing.T) {
	t.Parallel()
	doc, err := jsonedit.Parse([]byte(`{"hooks": [1, {"run": "mine"}, {"run": "ours"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	list, err := doc.Root().List("hooks")
	if err != nil {
		t.Fatal(err)
	}
	ours := func(o *jsonedit.Object) bool { return o.Get("run") == "ours" }
	if !list.RemoveObjects(ours) || list.RemoveObjects(ours) {
		t.Error("it is not removed exactly once")
	}
	if got := string(doc.Text()); got != `{"hooks": [1, {"run": "mine"}]}` {
		t.Errorf("got %s", got)
	}
	if _, err := doc.Root().Object("hooks"); err == nil {
		t.Error("a list is an object")
	}
}
