package toolset_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/plain"
)

type greetIn struct {
	Name string `json:"name" description:"Who is greeted."`
}

type greetOut struct {
	Greeting string `json:"greeting"`
}

// A tool is a typed function. Its schema and the checks of its arguments come from the type
// of the input, and its result has the same facts as text and as data.
func Example() {
	greet := plain.Object(plain.Style{}, toolset.Spec{
		Name: "greet", Title: "Greet", Description: "Greet somebody.", Hints: toolset.Hints{ReadOnly: true},
	}, func(_ context.Context, in greetIn) (greetOut, error) {
		return greetOut{"Hello, " + in.Name}, nil
	})
	fmt.Println(greet.Input().Required)
	for _, arguments := range []string{`{"name":"Ada"}`, `{}`} {
		res := greet.Call(context.Background(), json.RawMessage(arguments))
		fmt.Println(res.IsError, res.Text[0])
	}
	// Output:
	// [name]
	// false {"greeting":"Hello, Ada"}
	// true Missing required argument "name" (a string)
}
