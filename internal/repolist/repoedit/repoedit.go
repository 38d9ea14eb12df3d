// Package repoedit changes the list of repositories that package repolist reads. It is separate because
// the read-only program must not link a writer.
//
// [Add] and [Remove] change the file as twig does: the order stays, new entries come last, the
// indentation is two spaces, and there is no newline at the end. Other entries and unknown members
// do not change. Changes are atomic and under a lock; an invalid file does not change.
package repoedit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/rooted"
)

// wait is how long to wait for another process to change the list.
const wait = 5 * time.Second

// known are the relevant members of an entry.
type known struct {
	Path string `json:"path"`
}

// entry is a new one.
type entry struct {
	Path      string  `json:"path"`
	Name      string  `json:"name"`
	LastFetch *string `json:"last_fetch"`
}

// errUnchanged ends an edit that has nothing to do.
var errUnchanged = errors.New("nothing to change")

// Add adds the repository at root, an absolute path without links, to the list in file. It returns
// false if the list already contains it.
func Add(ctx context.Context, file, root string) (added bool, err error) {
	return change(ctx, file, func(list []json.RawMessage) ([]json.RawMessage, error) {
		for _, one := range list {
			if pathOf(one) == root {
				return nil, errUnchanged
			}
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		err := enc.Encode(entry{Path: root, Name: filepath.Base(root)})
		return append(list, b.Bytes()), err
	})
}

// Remove removes the repository at root from the list in file. It returns false if the list does
// not contain it.
func Remove(ctx context.Context, file, root string) (removed bool, err error) {
	return change(ctx, file, func(list []json.RawMessage) ([]json.RawMessage, error) {
		kept := make([]json.RawMessage, 0, len(list))
		for _, one := range list {
			if pathOf(one) != root {
				kept = append(kept, one)
			}
		}
		if len(kept) == len(list) {
			return nil, errUnchanged
		}
		return kept, nil
	})
}

func pathOf(one json.RawMessage) string {
	var k known
	_ = json.Unmarshal(one, &k) // an entry without a path matches nothing
	return k.Path
}

func change(ctx context.Context, file string, do func([]json.RawMessage) ([]json.RawMessage, error)) (bool, error) {
	if err := ownership.MakeAll(filepath.Dir(file)); err != nil {
		return false, fmt.Errorf("create the directory of the list: %w", rooted.WithoutPath(err))
	}
	err := lockedstore.EditPrivate(ctx, file, wait, func(old []byte) ([]byte, error) {
		var list []json.RawMessage
		if len(old) > 0 {
			if err := json.Unmarshal(old, &list); err != nil {
				return nil, fmt.Errorf("registry.json is not changed: it is not a list of repositories: %w", err)
			}
		}
		list, err := do(list)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return []byte("[]"), nil
		}
		var flat, pretty bytes.Buffer
		flat.WriteByte('[')
		flat.Write(bytes.Join(raw(list), []byte(",")))
		flat.WriteByte(']')
		if err := json.Indent(&pretty, flat.Bytes(), "", "  "); err != nil {
			return nil, err
		}
		return pretty.Bytes(), nil
	})
	if errors.Is(err, errUnchanged) {
		return false, nil
	}
	return err == nil, err
}

func raw(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, one := range list {
		out[i] = bytes.TrimSpace(one)
	}
	return out
}
