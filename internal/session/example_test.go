package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/session"
)

// A call reads all it needs through one View, so that its parts belong together.
func Example() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	const commit = "0123456789abcdef0123456789abcdef01234567\n"
	for name, text := range map[string]string{
		"HEAD": "ref: refs/heads/topic\n", "config": "[core]\n\trepositoryformatversion = 0\n",
		"refs/heads/main": commit, "refs/heads/topic": commit, "objects/info/none": "",
	} {
		path := filepath.Join(dir, ".git", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			fmt.Println(err)
			return
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}

	s := session.New(session.Options{Dir: dir})
	answer, err := session.Read(context.Background(), s, func(ctx context.Context, v *session.View) (string, error) {
		head, err := v.Head(ctx)
		if err != nil {
			return "", err
		}
		branches, err := v.Branches(ctx)
		return fmt.Sprintf("%s of %v", head.Branch, branches), err
	})
	fmt.Println(answer, err)
	// Output: topic of [main topic] <nil>
}
