package twig

import (
	"maps"
	"slices"
	"sync"
)

// Document is the content of a state file, in the order of the file.
type Document struct {
	Version      uint32
	UpdatedAt    string
	Worktrees    []Worktree
	Branches     map[string]Branch // by name
	Dependencies []Dependency      // the first with a child names its parent
	Roots        []Root
}

// Worktree is a worktree that twig created.
type Worktree struct{ Name, Path, Branch, CreatedAt string }

// Branch has the links of a branch.
type Branch struct {
	Branch    string // the name again
	JiraIssue string // empty: none
	GitHubPR  uint32 // 0: none
	CreatedAt string // when the link was made
}

// Dependency means that Child is stacked on Parent.
type Dependency struct {
	ID, Child, Parent, CreatedAt string
	// Source is the tool that recorded it, "" for twig. BaseHash is the commit of Parent on which
	// Child was last stacked, "" if no tool recorded it.
	Source, BaseHash string
	// Stale is the parent that Source recorded, if git does not have it. Parent is then the next
	// existing branch below.
	Stale string
	// Manager is the stack tool that has the same parent in its own record, if Source is twig.
	Manager string
}

// Root is a branch on which stacks end.
type Root struct {
	ID, Branch string
	IsDefault  bool
	CreatedAt  string
}

// State is a Document with its lookups. [NewState] or [Parse] creates it, and callers share it:
// nothing in it, and nothing that its methods return, may be changed. The zero State is empty.
type State struct {
	Document
	parents  map[string][]string // by child, in file order
	children map[string][]string // by parent, in file order
	roots    map[string]bool
	names    func() []string   // nil for none
	sources  map[string]string // by child, where not twig; nil for none
}

// NewState indexes doc, which must not be changed afterward.
func NewState(doc Document) *State {
	s := &State{
		Document: doc,
		parents:  make(map[string][]string, len(doc.Dependencies)),
		children: make(map[string][]string, len(doc.Dependencies)),
		roots:    make(map[string]bool, len(doc.Roots)),
	}
	for _, r := range doc.Roots {
		s.roots[r.Branch] = true
	}
	// Nearly all lists have one element, and share the memory of these.
	parents, children := make([]string, len(doc.Dependencies)), make([]string, len(doc.Dependencies))
	for i, d := range doc.Dependencies {
		parents[i], children[i] = d.Parent, d.Child
		if d.Source != "" && len(s.parents[d.Child]) == 0 {
			if s.sources == nil {
				s.sources = make(map[string]string)
			}
			s.sources[d.Child] = d.Source
		}
		add(s.parents, d.Child, parents[i:i+1:i+1])
		add(s.children, d.Parent, children[i:i+1:i+1])
	}
	s.names = sync.OnceValue(s.sortedNames)
	return s
}

// add appends one element to a list in a map.
func add(lists map[string][]string, key string, one []string) {
	if list, ok := lists[key]; ok {
		one = append(list, one...)
	}
	lists[key] = one
}

// sortedNames implements Names. Sorting takes as long as the rest of the index, and few answers
// show all names.
func (s *State) sortedNames() []string {
	names := slices.AppendSeq(make([]string, 0, len(s.Branches)+len(s.roots)), maps.Keys(s.Branches))
	others := make(map[string]bool)
	note := func(name string) {
		if _, linked := s.Branches[name]; !linked {
			others[name] = true
		}
	}
	for name := range s.roots {
		note(name)
	}
	for _, d := range s.Dependencies {
		note(d.Child)
		note(d.Parent)
	}
	names = slices.AppendSeq(names, maps.Keys(others))
	slices.Sort(names)
	return names
}

// Names returns every branch that the state knows, because of a link, a dependency, or a root,
// sorted by bytes.
func (s *State) Names() []string {
	if s.names == nil {
		return nil
	}
	return s.names()
}

// Known reports whether name is one of Names.
func (s *State) Known(name string) bool {
	_, linked := s.Branches[name]
	return linked || s.Declared(name)
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

// Children returns every child of parent, in the same way.
func (s *State) Children(parent string) []string { return s.children[parent] }

// IsRoot reports whether name is configured as a root.
func (s *State) IsRoot(name string) bool { return s.roots[name] }

// Declared reports whether name is a root or in a dependency. A known name that is not declared is
// only linked to an issue or a pull request.
func (s *State) Declared(name string) bool {
	return s.roots[name] || len(s.parents[name]) > 0 || len(s.children[name]) > 0
}

// Metadata is the tools' answer about one branch; empty fields are unset.
type Metadata struct {
	Branch       string `json:"branch"`
	JiraIssue    string `json:"jira_issue,omitempty"`
	PRNumber     uint32 `json:"pr_number,omitempty"`
	ParentBranch string `json:"parent_branch,omitempty"`
	// Source is the tool that recorded the parent, "" for twig.
	Source    string `json:"source,omitempty"`
	CreatedAt string `json:"created_at,omitempty"`
}

// Metadata returns the state's data about name, known or not.
func (s *State) Metadata(name string) Metadata {
	linked := s.Branches[name]
	parent, _ := s.Parent(name)
	return Metadata{
		Branch:       name,
		JiraIssue:    linked.JiraIssue,
		PRNumber:     linked.GitHubPR,
		ParentBranch: parent,
		Source:       s.sources[name],
		CreatedAt:    linked.CreatedAt,
	}
}
