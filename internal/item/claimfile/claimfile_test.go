package claimfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/claimfile"
)

// A claim that no reader would accept is not written.
func TestLargeClaim(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	r := claimfile.Record{Item: 1, Created: "2026-11-22T09:00:00.000Z", Claim: claim.Claim{Since: at, Renewed: at, Expires: at}}
	for n, want := range map[int]bool{60_000: true, 70_000: false} {
		r.Holder.Worktree = "/" + strings.Repeat("w", n)
		text, err := r.Text()
		if _, read := claimfile.Parse(claimfile.Name(r.Item, r.Created), text, at); (err == nil) != want || read != want {
			t.Errorf("%d bytes: %v, and read: %v", n, err, read)
		}
	}
}

// Of two clones that change a claim the one whose change is published is right, but for what it
// does not contradict: a renewal, and a claim that ended.
func TestMerge(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	name := claimfile.Name(1, "2026-11-22T09:00:00.000Z")
	claim := func(holder string, renewed time.Duration) string {
		text, err := claimfile.Record{Item: 1, Created: "2026-11-22T09:00:00.000Z", Claim: claim.Claim{
			Holder: claim.Agent{Name: holder}, Since: at, Renewed: at.Add(renewed), Expires: at.Add(renewed + 10*time.Minute),
		}}.Text()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	ada, later, latest, bob := claim("ada", 0), claim("ada", 5*time.Minute), claim("ada", 6*time.Minute), claim("bob", 5*time.Minute)
	for what, test := range map[string]struct {
		base, ours, theirs string
		after              time.Duration
		want               string
	}{
		"both claim a free item":           {"", ada, bob, 0, bob},
		"the other claim ended":            {"", later, ada, 11 * time.Minute, later},
		"we renew":                         {ada, later, ada, 0, later},
		"they renew":                       {ada, ada, later, 0, later},
		"both clones renew, we later":      {ada, latest, later, 0, latest},
		"both clones renew, they later":    {ada, later, latest, 0, latest},
		"we steal":                         {ada, bob, ada, 0, bob},
		"they steal":                       {ada, ada, bob, 0, bob},
		"we renew, and they steal":         {ada, latest, bob, 0, bob},
		"we steal, and they renew":         {ada, bob, later, 0, later},
		"theirs is damaged":                {ada, ada, "{", 0, ada},
		"ours is damaged":                  {"", "{", ada, 0, ada},
		"theirs is damaged, and ours ends": {ada, later, "", time.Hour, later},
	} {
		if got := claimfile.Merge(name, test.base, test.ours, test.theirs, at.Add(test.after)); got != test.want {
			t.Errorf("%s: got %s, want %s", what, got, test.want)
		}
	}
}
