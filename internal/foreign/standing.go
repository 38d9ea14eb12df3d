package foreign

// Standing is an author's association with a project.
type Standing constant

// The standings that GitHub defines.
const (
	Owner        Standing = "owner"
	Member       Standing = "member"
	Collaborator Standing = "collaborator"
	Contributor  Standing = "contributor"
	Unknown      Standing = "unknown"
)

// StandingOf reads GitHub's author_association. Authors without earlier contributions are unknown.
func StandingOf(association string) Standing {
	switch association {
	case "OWNER":
		return Owner
	case "MEMBER":
		return Member
	case "COLLABORATOR":
		return Collaborator
	case "CONTRIBUTOR":
		return Contributor
	}
	return Unknown
}

// By adds the author and their standing: "by `octocat` (member)".
func (l Line) By(author string, s Standing) Line {
	return l.Own("by ").Name(author).Own(" (").Own(constant(s)).Own(")")
}
