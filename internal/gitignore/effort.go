package gitignore

// Effort limits the total cost of the answers of [Rules]. Without it, a repository with half a
// million patterns makes each name cost as many comparisons. It is for one goroutine at a time.
type Effort struct {
	steps    int
	patterns int
	spent    bool
}

// NewEffort returns an Effort of a number of comparisons and a number of patterns, of all
// files together.
func NewEffort(steps, patterns int) *Effort { return &Effort{steps: steps, patterns: patterns} }

// Spent reports whether a limit was reached. From then on, nothing is ignored.
func (e *Effort) Spent() bool { return e != nil && e.spent }

// step counts n comparisons. A nil Effort has no limit.
func (e *Effort) step(n int) {
	if e == nil {
		return
	}
	e.steps -= n
	e.spent = e.spent || e.steps < 0
}

// take reports whether n more patterns may be used.
func (e *Effort) take(n int) bool {
	if e == nil {
		return true
	}
	e.patterns -= n
	e.spent = e.spent || e.patterns < 0
	return !e.spent
}
