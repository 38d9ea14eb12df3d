package source

import (
	"context"

	"github.com/copse-dev/copse/internal/git/objects"
)

// Blobs returns the contents of objects, in their order, nil for objects that are not blobs or are
// larger than limit.
func Blobs(ctx context.Context, r Repo, names []string, limit int) ([][]byte, error) {
	// A record is small. git reports the sizes first, so a large object is not read.
	described, err := objects.Describe(ctx, r.Program().Feed, names...)
	if err != nil {
		return nil, err
	}
	var wanted []string
	var index []int
	for i, o := range described {
		if o.Kind == "blob" && o.Size <= limit {
			wanted, index = append(wanted, o.Hash), append(index, i)
		}
	}
	found, err := objects.Read(ctx, r.Program().Within(MaxFile).Feed, wanted...)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(names))
	for i, o := range found {
		out[index[i]] = o.Data
	}
	return out, nil
}
