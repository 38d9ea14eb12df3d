package hostile

// vector is one thing in a repository that names a program, an address or code.
type vector struct {
	name string
	// plant puts it into a copy of the template.
	plant func(r *repo)
	// control are shell lines with which a person who uses git or just without copse wakes
	// the canary: proof that the vector is live. "{mark}" is the mark of the vector in its crowd.
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
	// crowd names the vectors that are planted together; "" for one that is alone in a repository. Each
	// vector of a crowd must be live beside the others, and every entry point must do its work there:
	// otherwise one could hide another.
	crowd string
}

// crowd puts vectors into one crowd.
func crowd(name string, members ...vector) []vector {
	for i := range members {
		members[i].crowd = name
	}
	return members
}

// crowds returns the vectors in the order of the table, with each crowd together.
func crowds(all []vector) (found [][]vector) {
	places := make(map[string]int)
	for _, v := range all {
		place, ok := places[v.crowd]
		if !ok || v.crowd == "" {
			places[v.crowd] = len(found)
			found = append(found, []vector{v})
			continue
		}
		found[place] = append(found[place], v)
	}
	return found
}

// vectors returns all of them.
func vectors() []vector {
	var all []vector
	for _, group := range [][]vector{gitKeys(), gitFiles(), gitRemotes(), taskFiles(), otherFiles()} {
		all = append(all, group...)
	}
	return all
}
