package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Blobs returns the contents of objects, in their order, nil for objects that are not blobs or are
// larger than limit. It runs git once.
func Blobs(ctx context.Context, r Repo, names []string, limit int) ([][]byte, error) {
	if len(names) == 0 {
		return nil, nil
	}
	// A record is small. git reports the sizes first, so a large object is not read.
	sizes, err := r.Program().Feed(ctx, []byte(strings.Join(names, "\n")+"\n"), "cat-file", "--batch-check=%(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(sizes), "\n"), "\n")
	if len(lines) != len(names) {
		return nil, errors.New("git returned other objects")
	}
	var wanted []string
	index := make([]int, 0, len(names))
	for i, line := range lines {
		kind, size, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(size); err == nil && kind == "blob" && n <= limit {
			wanted, index = append(wanted, names[i]), append(index, i)
		}
	}
	out := make([][]byte, len(names))
	if len(wanted) == 0 {
		return out, nil
	}
	data, err := r.Program().Within(MaxFile).Feed(ctx, []byte(strings.Join(wanted, "\n")+"\n"), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	for _, i := range index {
		head, rest, ok := bytes.Cut(data, []byte("\n"))
		fields := strings.Fields(string(head))
		if !ok || len(fields) != 3 {
			return nil, fmt.Errorf("read objects: git printed %.80q", head)
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("read objects: git printed %.80q", head)
		}
		out[i], data = rest[:size], rest[size+1:]
	}
	return out, nil
}
