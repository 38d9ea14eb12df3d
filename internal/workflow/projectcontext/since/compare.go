package since

import (
	"slices"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/workflow/projectcontext/wording"
)

// difference is how a section differs from an earlier answer. Fresh and Changed are keys of facts
// that it has, Gone are facts that it no longer has, each in their order.
type difference struct {
	Fresh, Changed []string
	Gone           []recorded
}

// compare returns the differences. It compares truncated lists up to the last fact that both have.
func compare(before section, now present) difference {
	var d difference
	was := make(map[string]string, len(before.Facts))
	for _, f := range before.Facts {
		was[f.Key] = f.Sum
	}
	is := make(map[string]bool, len(now.Facts))
	for _, f := range now.Facts {
		is[f.Key] = true
	}
	common := func(f recorded) bool { _, ok := was[f.Key]; return ok && is[f.Key] }
	newest, oldest := now.Facts, before.Facts
	if now.Cut || before.Cut {
		// Without a common fact, all of the new ones are shown, and none of the old ones.
		if last := lastFunc(now.Facts, common); last >= 0 {
			newest = newest[:last+1]
		}
		oldest = oldest[:lastFunc(before.Facts, common)+1]
	}
	for _, f := range newest {
		sum, known := was[f.Key]
		switch {
		case !known:
			d.Fresh = append(d.Fresh, f.Key)
		case sum != f.Sum:
			d.Changed = append(d.Changed, f.Key)
		}
	}
	for _, f := range oldest {
		if !is[f.Key] && !now.hides(f.Key) {
			d.Gone = append(d.Gone, f)
		}
	}
	return d
}

func lastFunc(list []recorded, ok func(recorded) bool) int {
	for i, f := range slices.Backward(list) {
		if ok(f) {
			return i
		}
	}
	return -1
}

// lines describes a difference.
func (d difference) lines(now present) []foreign.Line {
	var out []foreign.Line
	var names []string
	each := func(keys []string, before foreign.Line) {
		names = nil
		for _, key := range keys {
			f := now.lines[key]
			if f.Short {
				names = append(names, f.Line.Plain())
				continue
			}
			out = append(append(out, before.Add(f.Line)), f.More...)
		}
		out = append(out, shared(before, names)...)
	}
	each(d.Changed, foreign.Own("now: "))
	each(d.Fresh, foreign.Own("new: "))
	names = nil
	short := now.short()
	for _, f := range d.Gone {
		if line, ok := wording.Gone(now.from.Content, f.Key); ok {
			out = append(out, foreign.Own("gone: ").Add(line))
		} else if short {
			names = append(names, f.Text)
		} else {
			out = append(out, foreign.Own("gone: ").Name(f.Text))
		}
	}
	return append(out, shared(foreign.Own("gone: "), names)...)
}

// perLine is the number of short names on a line.
const perLine = 10

// shared returns names in lines of several.
func shared(before foreign.Line, names []string) []foreign.Line {
	var out []foreign.Line
	for part := range slices.Chunk(names, perLine) {
		line := before
		for i, name := range part {
			if i > 0 {
				line = line.Own(", ")
			}
			line = line.Name(name)
		}
		out = append(out, line)
	}
	return out
}

// short reports whether the section has only names.
func (p present) short() bool {
	for _, f := range p.lines {
		return f.Short
	}
	return false
}
