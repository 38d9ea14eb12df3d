package twig

import (
	"maps"
	"slices"
)

// Document is what a state file says, in the order in which it says it.
type Document struct {
	Version      uint32
	UpdatedAt    string
	Worktrees    []Worktree
	Branches     map[string]Branch // by name
	Dependencies []Dependency      // the first with a child names its parent
	Roots        []Root
}

// Worktree is a worktree that twig made.
type Worktree struct{ Name, Path, Branch, CreatedAt string }

// Branch is what is linked to a branch.
type Branch struct {
	Branch    string // the name once more
	JiraIssue string // empty: none
	GitHubPR  uint32 // 0: none
	CreatedAt string // when the link was made
}

// Dependency says that Child is stacked on Parent.
type Dependency struct{ ID, Child, Parent, CreatedAt string }

// Root is a branch that stacks end at.
type Root struct {
	ID, Branch string
	IsDefault  bool
	CreatedAt  string
}

// State is a Document with its lookups. It is made by [NewState] or [Parse] and
// shared between callers: nothing in it, and nothing its methods return, may
// be changed. The zero State is an empty one.
type State struct {
	Document
	parents  map[string][]string // by child, in file order
	children map[string][]string // by parent, in file order
	roots    map[string]bool
	names    []string
}

// NewState indexes doc, which must not be changed afterwards.
func NewState(doc Document) *State {
	s := &State{
		Document: doc,
		parents:  make(map[string][]string, len(doc.Dependencies)),
		children: make(map[string][]string),
		roots:    make(map[string]bool, len(doc.Roots)),
	}
	for _, d := range doc.Dependencies {
		s.parents[d.Child] = append(s.parents[d.Child], d.Parent)
		s.children[d.Parent] = append(s.children[d.Parent], d.Child)
	}
	for _, r := range doc.Roots {
		s.roots[r.Branch] = true
	}

	known := make(map[string]bool, len(doc.Branches)+len(doc.Dependencies))
	maps.Copy(known, s.roots)
	for name := range doc.Branches {
		known[name] = true
	}
	for _, d := range doc.Dependencies {
		known[d.Child], known[d.Parent] = true, true
	}
	s.names = slices.Sorted(maps.Keys(known))
	return s
}

// Names returns every branch the state knows, linked to something, in a
// dependency or a root, sorted by bytes.
func (s *State) Names() []string { return s.names }

// Known reports whether name is one of Names.
func (s *State) Known(name string) bool {
	_, known := slices.BinarySearch(s.names, name)
	return known
}

// Parent returns the parent of the first dependency with that child.
func (s *State) Parent(child string) (parent string, ok bool) {
	if p := s.parents[child]; len(p) > 0 {
		return p[0], true
	}
	return "", false
}

// Parents returns every parent of child, in file order. A dependency that the
// file repeats is repeated.
func (s *State) Parents(child string) []string { return s.parents[child] }

// Children returns every child of parent, likewise.
func (s *State) Children(parent string) []string { return s.children[parent] }

// IsRoot reports whether name is configured as a root.
func (s *State) IsRoot(name string) bool { return s.roots[name] }

// Declared reports whether name is a root or in a dependency. A name that is
// known but not declared is only linked to an issue or a pull request.
func (s *State) Declared(name string) bool {
	return s.roots[name] || len(s.parents[name]) > 0 || len(s.children[name]) > 0
}

// Metadata is what the tools answer about one branch; empty fields are unset.
type Metadata struct {
	Branch       string `json:"branch"`
	JiraIssue    string `json:"jira_issue,omitempty"`
	PRNumber     uint32 `json:"pr_number,omitempty"`
	ParentBranch string `json:"parent_branch,omitempty"`
	CreatedAt    string `json:"created_at,omitempty"`
}

// Metadata returns what the state has about name, known or not.
func (s *State) Metadata(name string) Metadata {
	linked := s.Branches[name]
	parent, _ := s.Parent(name)
	return Metadata{
		Branch:       name,
		JiraIssue:    linked.JiraIssue,
		PRNumber:     linked.GitHubPR,
		ParentBranch: parent,
		CreatedAt:    linked.CreatedAt,
	}
}
