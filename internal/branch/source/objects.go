package source

import (
	"context"

	"github.com/copse-dev/copse/internal/git/objects"
)

// Blobs returns the contents of objects, in their order, nil for objects that are not blobs or are
// larger than limit.
func Blobs(ctx context.Context, r Repo, names []string, limit int) ([][]byte, error) {
	found, err := objects.ReadUpTo(ctx, r.Program().Within(MaxFile).Feed, limit, names...)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(names))
	for i, o := range found {
		if o.Kind == "blob" {
			out[i] = o.Data
		}
	}
	return out, nil
}
