package rooted_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/rooted"
)

// A file below the root is read; a path that points outside is refused, whether it exists or not.
func Example() {
	dir, err := os.MkdirTemp("", "rooted")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("hello"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	root, err := rooted.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()

	name, err := root.Name("docs/../notes.txt")
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := root.Read(name, 1<<10)
	fmt.Println(string(data), err)

	_, err = root.Name("../other")
	fmt.Println(errors.Is(err, rooted.ErrOutside))
	// Output:
	// hello <nil>
	// true
}
