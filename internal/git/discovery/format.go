package discovery

import (
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git/gitconfig"
)

// Format is the format of a repository's files, from its configuration.
type Format struct {
	HashLen        int // digits in the name of an object
	WorktreeConfig bool
}

// Extensions that this package supports, or that change nothing for a reader of refs and
// configuration. With any other one, the data may have another meaning. Format version 0 honors
// only the first group, and ignores unknown extensions.
var (
	extensions0 = []string{"noop", "partialclone", "preciousobjects", "worktreeconfig"}
	extensions1 = []string{
		"noop-v1", "objectformat", "compatobjectformat", "refstorage",
		"relativeworktrees", "submodulepathconfig",
	}
)

// readFormat reads the format from the configuration in the file at path.
func readFormat(cfg gitconfig.Config, path string) (Format, error) {
	f := Format{HashLen: 40}
	unsupported := func(what string) error {
		return &BrokenError{
			Path: path, Problem: "states that the repository has " + what + ", which is not supported",
			Remedy: "use a newer release of this program",
		}
	}
	version, _ := cfg.Value("core.repositoryformatversion")
	if !slices.Contains([]string{"", "0", "1"}, version) {
		return f, unsupported(fmt.Sprintf("format version %q", version))
	}
	for _, e := range cfg {
		name, ok := strings.CutPrefix(e.Key, "extensions.")
		if !ok {
			continue
		}
		later := slices.Contains(extensions1, name)
		switch {
		case version != "1" && later:
			return f, &BrokenError{
				Path: path, Problem: "has extensions." + name + ", which format version 0 does not allow",
				Remedy: "set core.repositoryformatversion in it to 1 if git created the file",
			}
		case version == "1" && !later && !slices.Contains(extensions0, name):
			return f, unsupported(fmt.Sprintf("the extension %q", name))
		}
		switch name {
		case "worktreeconfig":
			var err error
			if f.WorktreeConfig, err = cfg.Bool(e.Key, false); err != nil {
				return f, BadConfig(path, err)
			}
		case "objectformat":
			switch e.Value {
			case "sha1":
				f.HashLen = 40
			case "sha256":
				f.HashLen = 64
			default:
				return f, unsupported("objects of the format " + e.Value)
			}
		case "refstorage":
			// The format can change, and is looked up each time.
			if e.Value != "files" && e.Value != "reftable" {
				return f, unsupported("refs of the format " + e.Value)
			}
		}
	}
	return f, nil
}
