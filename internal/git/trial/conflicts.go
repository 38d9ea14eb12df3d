package trial

import (
	"maps"
	"slices"
	"strings"
)

// conflicts collects git's output about one merge.
type conflicts struct {
	stages map[string]int // bits of the stages that a path has
	sides  map[string][2]string
	links  map[string]bool // paths of submodules
	told   map[string]bool // paths in messages about conflicts
}

// The stages of a file in conflict: the base, and the two sides.
const (
	base   = 1 << 1
	first  = 1 << 2
	second = 1 << 3
)

// gitlink is the mode of a submodule.
const gitlink = "160000 "

// entry reads "<mode> <object> <stage>\t<path>".
func (c *conflicts) entry(text string) {
	meta, path, ok := strings.Cut(text, "\t")
	if !ok || meta == "" {
		return
	}
	if stage := meta[len(meta)-1] - '0'; stage >= 1 && stage <= 3 {
		c.stages[path] |= 1 << stage
		if stage > 1 {
			sides := c.sides[path]
			sides[stage-2] = strings.TrimSpace(meta[:len(meta)-1])
			c.sides[path] = sides
		}
	}
	if strings.HasPrefix(meta, gitlink) {
		if c.links == nil {
			c.links = map[string]bool{}
		}
		c.links[path] = true
	}
}

// message reads the paths in a message of a kind.
func (c *conflicts) message(paths []string, kind string) {
	if !strings.HasPrefix(kind, "CONFLICT") {
		return
	}
	if c.told == nil {
		c.told = map[string]bool{}
	}
	for _, path := range paths {
		c.told[path] = true
	}
}

// outcome returns the collected conflicts. Messages name further paths, such as the old name of a
// moved file; they are used only if there are no entries.
func (c *conflicts) outcome(conflict bool) Outcome {
	if !conflict {
		return Outcome{}
	}
	out := Outcome{Files: []File{}}
	for _, path := range slices.Sorted(maps.Keys(c.stages)) {
		kind := kindOf(c.stages[path])
		if c.links[path] && kind == Modified {
			kind = Submodule
		}
		out.Files = append(out.Files, File{Path: path, Kind: kind, A: c.sides[path][0], B: c.sides[path][1]})
	}
	if len(out.Files) == 0 {
		for _, path := range slices.Sorted(maps.Keys(c.told)) {
			out.Files = append(out.Files, File{Path: path, Kind: Moved})
		}
	}
	if len(out.Files) == 0 {
		out.Files = append(out.Files, File{Path: ".", Kind: Moved})
	}
	return out
}

func kindOf(stages int) Kind {
	switch stages {
	case base | first | second:
		return Modified
	case first | second:
		return Added
	case base | second:
		return DeletedA
	case base | first:
		return DeletedB
	}
	return Moved
}
