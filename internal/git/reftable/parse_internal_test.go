package reftable

import "testing"

func FuzzParse(f *testing.F) {
	f.Add("HEAD\x00\x00refs/heads/")
	f.Add("HEAD\x0012\x00refs/heads/x\nrefs/heads/x\x0012\x00\n")
	f.Fuzz(func(t *testing.T, text string) {
		if head, _, found := parseRefs(text); found && head.Detached == (head.Branch != "") {
			t.Errorf("HEAD %+v of %q makes no sense", head, text)
		}
	})
}
