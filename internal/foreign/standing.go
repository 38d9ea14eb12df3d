package foreign

// Standing is what an author is to the project that a text belongs to.
type Standing constant

// The standings, as GitHub knows them.
const (
	Owner        Standing = "owner"
	Member       Standing = "member"
	Collaborator Standing = "collaborator"
	Contributor  Standing = "contributor"
	Unknown      Standing = "unknown"
)

// StandingOf reads GitHub's author_association. Those who have contributed
// nothing before are unknown.
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

// By adds who wrote something, and their standing: "by `octocat` (member)".
func (l Line) By(author string, s Standing) Line {
	return l.Own("by ").Name(author).Own(" (").Own(constant(s)).Own(")")
}
