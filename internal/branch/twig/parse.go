package twig

import (
	"fmt"

	"github.com/copse-dev/copse/internal/jsonfile"
)

// The wire types are the file's records. A nil pointer is a member that is
// absent or null, which only the links of a branch may be.
type (
	wireDocument struct {
		Version      *uint32               `json:"version"`
		UpdatedAt    *string               `json:"updated_at"`
		Worktrees    []wireWorktree        `json:"worktrees"`
		Branches     map[string]wireBranch `json:"branches"`
		Dependencies []wireDependency      `json:"dependencies"`
		RootBranches []wireRoot            `json:"root_branches"`
	}
	wireWorktree struct {
		Name      *string `json:"name"`
		Path      *string `json:"path"`
		Branch    *string `json:"branch"`
		CreatedAt *string `json:"created_at"`
	}
	wireBranch struct {
		Branch    *string `json:"branch"`
		JiraIssue string  `json:"jira_issue"`
		GitHubPR  uint32  `json:"github_pr"`
		CreatedAt *string `json:"created_at"`
	}
	wireDependency struct {
		ID        *string `json:"id"`
		Child     *string `json:"child"`
		Parent    *string `json:"parent"`
		CreatedAt *string `json:"created_at"`
	}
	wireRoot struct {
		ID        *string `json:"id"`
		Branch    *string `json:"branch"`
		IsDefault *bool   `json:"is_default"`
		CreatedAt *string `json:"created_at"`
	}
)

// Parse reads the content of a state file. It ignores unknown members; of two entries for one
// branch, the last one is used.
func Parse(data []byte) (*State, error) {
	wire, err := jsonfile.Decode[wireDocument](data)
	if err != nil {
		return nil, err
	}
	doc, err := wire.document()
	if err != nil {
		return nil, err
	}
	return NewState(doc), nil
}

func (w wireDocument) document() (Document, error) {
	lacks := firstAbsent(
		member{"version", w.Version != nil},
		member{"updated_at", w.UpdatedAt != nil},
		member{"worktrees", w.Worktrees != nil},
		member{"branches", w.Branches != nil},
		member{"dependencies", w.Dependencies != nil},
		member{"root_branches", w.RootBranches != nil},
	)
	if lacks != "" {
		return Document{}, missing("", lacks)
	}
	worktrees, err := each("worktrees", w.Worktrees, wireWorktree.worktree)
	if err != nil {
		return Document{}, err
	}
	branches, err := eachBranch(w.Branches)
	if err != nil {
		return Document{}, err
	}
	dependencies, err := each("dependencies", w.Dependencies, wireDependency.dependency)
	if err != nil {
		return Document{}, err
	}
	roots, err := each("root_branches", w.RootBranches, wireRoot.root)
	if err != nil {
		return Document{}, err
	}
	return Document{
		Version:      *w.Version,
		UpdatedAt:    *w.UpdatedAt,
		Worktrees:    worktrees,
		Branches:     branches,
		Dependencies: dependencies,
		Roots:        roots,
	}, nil
}

func (w wireWorktree) worktree() (t Worktree, lacks string) {
	lacks = firstAbsent(
		member{"name", w.Name != nil},
		member{"path", w.Path != nil},
		member{"branch", w.Branch != nil},
		member{"created_at", w.CreatedAt != nil},
	)
	if lacks != "" {
		return Worktree{}, lacks
	}
	return Worktree{Name: *w.Name, Path: *w.Path, Branch: *w.Branch, CreatedAt: *w.CreatedAt}, ""
}

func (w wireBranch) branch() (b Branch, lacks string) {
	lacks = firstAbsent(
		member{"branch", w.Branch != nil},
		member{"created_at", w.CreatedAt != nil},
	)
	if lacks != "" {
		return Branch{}, lacks
	}
	return Branch{Branch: *w.Branch, JiraIssue: w.JiraIssue, GitHubPR: w.GitHubPR, CreatedAt: *w.CreatedAt}, ""
}

func (w wireDependency) dependency() (d Dependency, lacks string) {
	lacks = firstAbsent(
		member{"id", w.ID != nil},
		member{"child", w.Child != nil},
		member{"parent", w.Parent != nil},
		member{"created_at", w.CreatedAt != nil},
	)
	if lacks != "" {
		return Dependency{}, lacks
	}
	return Dependency{ID: *w.ID, Child: *w.Child, Parent: *w.Parent, CreatedAt: *w.CreatedAt}, ""
}

func (w wireRoot) root() (r Root, lacks string) {
	lacks = firstAbsent(
		member{"id", w.ID != nil},
		member{"branch", w.Branch != nil},
		member{"is_default", w.IsDefault != nil},
		member{"created_at", w.CreatedAt != nil},
	)
	if lacks != "" {
		return Root{}, lacks
	}
	return Root{ID: *w.ID, Branch: *w.Branch, IsDefault: *w.IsDefault, CreatedAt: *w.CreatedAt}, ""
}

// each converts the records of the array at path.
func each[W, R any](path string, records []W, convert func(W) (R, string)) ([]R, error) {
	converted := make([]R, len(records))
	for i, w := range records {
		r, lacks := convert(w)
		if lacks != "" {
			return nil, missing(jsonfile.Index(path, i), lacks)
		}
		converted[i] = r
	}
	return converted, nil
}

// eachBranch converts the records of branches. Of several incomplete ones, it reports the first by
// name.
func eachBranch(records map[string]wireBranch) (map[string]Branch, error) {
	converted := make(map[string]Branch, len(records))
	var incomplete, lacking string
	for name, w := range records {
		b, lacks := w.branch()
		if lacks != "" && (lacking == "" || name < incomplete) {
			incomplete, lacking = name, lacks
		}
		converted[name] = b
	}
	if lacking != "" {
		return nil, missing(jsonfile.Key("branches", incomplete), lacking)
	}
	return converted, nil
}

// member is a required member of a record.
type member struct {
	key   string
	there bool
}

func firstAbsent(members ...member) (key string) {
	for _, m := range members {
		if !m.there {
			return m.key
		}
	}
	return ""
}

func missing(path, key string) error {
	return fmt.Errorf("%s: missing or null", jsonfile.Key(path, key))
}
