package hostile

// vector is one thing in a repository that names a program, an address or code.
type vector struct {
	name string
	// plant puts it into a copy of the template.
	plant func(r *repo)
	// control are shell lines with which a person who uses git or just without copse wakes
	// the canary: proof that the vector is live.
	control string
	// dormant says why there is no control: nothing that is installed does what the vector
	// says, or only where a test cannot go.
	dormant string
	// from is the working directory, below the root of the repository.
	from string
	// needs is a program without which the vector is nothing.
	needs string
	// byName means that a task of this repository that is run by its name may do what it
	// likes. Then a name is tried that no task has.
	byName bool
}

// vectors returns all of them.
func vectors() []vector {
	var all []vector
	for _, group := range [][]vector{gitKeys(), gitFiles(), gitRemotes(), taskFiles(), otherFiles()} {
		all = append(all, group...)
	}
	return all
}
