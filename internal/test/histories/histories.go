// Package histories creates random histories of a store of work items in several clones of one
// repository, with real git, and reports what they lost.
//
// A history is two to four clones in which items are created, changed, commented, related, and
// deleted at random, in commits that are pushed, pulled, merged, squashed as a server does it,
// rebased, cherry-picked, and reverted at random. Whenever git stops, and after each of its merges,
// the store is repaired as the doctor does it. At the end, everything is merged into one.
package histories

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/remerge"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/xec"
)

// Outcome is the result of a history.
type Outcome struct {
	// Steps describes what was done.
	Steps []string
	// Items and Comments are the numbers of created ones, Merges is how often git merged, rebased,
	// or picked, and Stops how often it stopped.
	Items, Comments, Merges, Stops int
	// Crashes is how often git itself crashed in a merge, which is undone then.
	Crashes int
	// Lost, Duplicated, and Wrong describe missing items, duplicates, and wrong relations.
	Lost, Duplicated, Wrong []string
}

// Good reports whether nothing went wrong.
func (o *Outcome) Good() bool { return len(o.Lost)+len(o.Duplicated)+len(o.Wrong) == 0 }

// Add adds what happened in another history.
func (o *Outcome) Add(other *Outcome) {
	o.Items, o.Comments = o.Items+other.Items, o.Comments+other.Comments
	o.Merges, o.Stops, o.Crashes = o.Merges+other.Merges, o.Stops+other.Stops, o.Crashes+other.Crashes
	o.Lost = append(o.Lost, other.Lost...)
	o.Duplicated = append(o.Duplicated, other.Duplicated...)
	o.Wrong = append(o.Wrong, other.Wrong...)
}

// history is a history in progress. The times of its clock are unique, so they identify items and
// comments.
type history struct {
	ctx    context.Context
	dir    string
	driver string
	random *rand.Rand
	env    []string
	minute int
	clones []*clone
	out    *Outcome

	comments map[string]string                     // text, to the birth of the item
	deleted  map[string]bool                       // births of items that were deleted somewhere
	reverted map[string]bool                       // births of items, and texts of comments, that a revert removed somewhere
	related  map[string]map[string]map[string]bool // kind, birth and birth of the other
}

type clone struct {
	*history
	name   string
	path   string
	opened *local.Store
	told   []remerge.Fix // by the last repairs
}

// Run makes one history in a directory. driver is a command line to register as merge driver, ""
// for none.
func Run(ctx context.Context, dir string, random *rand.Rand, driver string) (*Outcome, error) {
	h := &history{
		ctx: ctx, dir: dir, driver: driver, random: random, out: &Outcome{}, comments: map[string]string{}, deleted: map[string]bool{}, reverted: map[string]bool{},
		related: map[string]map[string]map[string]bool{"parent": {}, "depends_on": {}},
		env: append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_EDITOR=true",
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_TERMINAL_PROMPT=0",
			// Nothing here has to survive a loss of power, and nothing lives long enough to be packed.
			"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=core.fsync", "GIT_CONFIG_VALUE_0=none", "GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0",
			"GIT_CONFIG_KEY_2=maintenance.auto", "GIT_CONFIG_VALUE_2=false"),
	}
	defer func() {
		for _, c := range h.clones {
			c.close()
		}
	}()
	if err := h.begin(); err != nil {
		return h.out, err
	}
	for range 10 + random.IntN(20) {
		if err := h.step(); err != nil {
			return h.out, fmt.Errorf("after %s: %w", strings.Join(h.out.Steps, "; "), err)
		}
	}
	if err := h.end(); err != nil {
		return h.out, fmt.Errorf("at the end of %s: %w", strings.Join(h.out.Steps, "; "), err)
	}
	return h.out, nil
}

func (h *history) now() time.Time {
	h.minute++
	return time.Date(2026, 1, 1, 0, h.minute, 0, 0, time.UTC)
}

func (h *history) note(format string, args ...any) {
	h.out.Steps = append(h.out.Steps, fmt.Sprintf(format, args...))
}

// git runs git. Whether it stopped is the caller's to judge.
func (c *clone) git(args ...string) (string, error) {
	cmd := exec.CommandContext(c.ctx, "git", args...)
	c.minute++
	at := time.Date(2026, 1, 1, 0, c.minute, 0, 0, time.UTC).Format(time.RFC3339)
	cmd.Dir, cmd.Env = c.path, append(slices.Clone(c.env), "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: git %s: %w: %s", c.name, strings.Join(args, " "), err, out)
	}
	if err != nil && c.ctx.Err() == nil && strings.Contains(string(out), "Assertion `") {
		err = fmt.Errorf("%w: %w", errCrashed, err)
	}
	return strings.TrimSpace(string(out)), err
}

// errCrashed reports that git ended in the middle of a merge. Releases up to 2.50 do that
// for some renames ("process_renames: Assertion") and leave the lock of the index.
var errCrashed = errors.New("git crashed")

func (c *clone) must(args ...string) error {
	_, err := c.git(args...)
	return err
}

// store opens the store afresh, as a command does, and closes the one that was open.
func (c *clone) store() *local.Store {
	c.close()
	c.opened = local.New(location.Search{Dir: c.path, Root: c.path}, c.now).InGit(git.Options{Env: xec.Env(c.env)})
	return c.opened
}

// close ends what the system holds for a store that is open; it gives a user few watchers.
func (c *clone) close() {
	if c.opened != nil {
		_ = c.opened.Close()
	}
}

func (h *history) begin() error {
	hub := filepath.Join(h.dir, "hub.git")
	first := &clone{history: h, name: "c0", path: filepath.Join(h.dir, "c0")}
	root := &clone{history: h, name: "root", path: h.dir}
	if err := errors.Join(root.must("init", "-q", "--bare", "-b", "main", hub), root.must("clone", "-q", hub, first.path)); err != nil {
		return err
	}
	if err := first.must("checkout", "-q", "-B", "main"); err != nil {
		return err
	}
	if _, err := first.store().Init(h.ctx); err != nil {
		return err
	}
	for range h.random.IntN(4) {
		if err := first.create(); err != nil {
			return err
		}
	}
	if h.driver != "" {
		if err := first.store().RegisterDriver(h.ctx, h.driver); err != nil {
			return err
		}
	}
	if err := errors.Join(first.commit(), first.must("push", "-q", "-u", "origin", "main")); err != nil {
		return err
	}
	h.clones = []*clone{first}
	for i := range 1 + h.random.IntN(3) {
		c := &clone{history: h, name: fmt.Sprintf("c%d", i+1), path: filepath.Join(h.dir, fmt.Sprintf("c%d", i+1))}
		if err := root.must("clone", "-q", hub, c.path); err != nil {
			return err
		}
		if h.driver != "" {
			if err := c.store().RegisterDriver(h.ctx, h.driver); err != nil {
				return err
			}
		}
		h.clones = append(h.clones, c)
	}
	return nil
}

func (h *history) step() error {
	c := h.clones[h.random.IntN(len(h.clones))]
	switch n := h.random.IntN(24); {
	case n >= 22:
		return c.revert()
	case n >= 20:
		return c.squash()
	case n < 11:
		return c.work()
	case n < 13:
		h.note("%s pushes", c.name)
		_, _ = c.git("push", "-q", "origin", "HEAD:main") // it may have to pull first
		return nil
	case n < 15:
		return c.merges("merges", "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
	case n < 17:
		return c.merges("rebases", "pull", "-q", "--rebase", "origin", "main")
	default:
		other := h.clones[h.random.IntN(len(h.clones))]
		if other == c {
			return nil
		}
		if err := c.must("fetch", "-q", other.path, "+HEAD:refs/remotes/"+other.name+"/main"); err != nil {
			return err
		}
		if n == 19 {
			return c.merges("merges from "+other.name, "merge", "-q", "--no-edit", other.name+"/main")
		}
		theirs, err := c.git("rev-list", "--no-merges", "HEAD.."+other.name+"/main")
		if err != nil || theirs == "" {
			return err
		}
		return c.merges("picks from "+other.name, "cherry-pick", c.oneOf(theirs))
	}
}

// oneOf returns a random word.
func (h *history) oneOf(words string) string {
	all := strings.Fields(words)
	return all[h.random.IntN(len(all))]
}

// squash merges a clone into the main branch as a server does it: in a commit with the tree of the
// merge and one parent, without a look at the store. The clone stays where it is, or takes over the
// commit.
func (c *clone) squash() error {
	if err := c.must("fetch", "-q", "origin", "main"); err != nil {
		return err
	}
	tree, err := c.git("merge-tree", "--write-tree", "FETCH_HEAD", "HEAD")
	if err != nil {
		return nil //nolint:nilerr // the server refuses a conflict; a git before 2.38 does not know the command
	}
	if _, err := c.git("diff", "--quiet", "FETCH_HEAD", tree); err == nil {
		return nil // there is nothing to merge
	}
	made, err := c.git("commit-tree", tree, "-p", "FETCH_HEAD", "-m", c.name+" squashed")
	if err != nil {
		return err
	}
	c.note("%s is squashed", c.name)
	c.out.Merges++
	if err := c.must("push", "-q", "origin", made+":main"); err != nil || c.random.IntN(2) == 0 {
		return err
	}
	return c.merges("takes the squashed commit", "reset", "-q", "--hard", made)
}

// revert reverts a random commit. The doctor names each item that is missing then, and the command that
// brings it back.
func (c *clone) revert() error {
	commits, err := c.git("rev-list", "--max-count=20", "--min-parents=1", "HEAD")
	if err != nil || commits == "" {
		return err
	}
	before, live, err := c.read()
	if err != nil {
		return err
	}
	args := []string{"revert", "--no-edit", c.oneOf(commits)}
	if _, err := c.git("rev-parse", "--verify", "--quiet", args[2]+"^2"); err == nil {
		args = append(args, "-m", "1")
	}
	if err := c.merges("reverts "+args[2], args...); err != nil {
		return err
	}
	after, _, err := c.read()
	if err != nil {
		return err
	}
	named := fmt.Sprint(c.told)
	for birth, items := range before {
		for _, comment := range items[0].Comments {
			if len(after[birth]) == 0 || !slices.ContainsFunc(after[birth][0].Comments, func(other item.Comment) bool { return other.Body == comment.Body }) {
				c.reverted[comment.Body] = true
			}
		}
		if len(after[birth]) > 0 {
			continue
		}
		c.reverted[birth] = true
		if it := items[0]; live[it.ID].Created == birth && !strings.Contains(named, fmt.Sprintf("%q", it.Title)) {
			c.out.Wrong = append(c.out.Wrong, fmt.Sprintf("the doctor of %s does not name #%d %q, which a revert removed: %s", c.name, it.ID, it.Title, named))
		}
	}
	return nil
}

// work does some random changes in one commit.
func (c *clone) work() error {
	for range 1 + c.random.IntN(3) {
		if err := c.change(); err != nil {
			return err
		}
	}
	return c.commit()
}

func (c *clone) commit() error {
	if err := c.must("add", "-A"); err != nil {
		return err
	}
	if _, err := c.git("diff-index", "--cached", "--quiet", "HEAD"); err == nil {
		return nil // nothing has changed
	}
	return c.must("commit", "-q", "-m", fmt.Sprintf("%s %d", c.name, c.minute))
}

func (c *clone) items() ([]*item.Summary, error) {
	snapshot, err := c.store().Snapshot(c.ctx)
	if err != nil {
		return nil, err
	}
	if len(snapshot.Warnings) > 0 {
		return nil, fmt.Errorf("%s: %v", c.name, snapshot.Warnings)
	}
	return snapshot.List(item.Config{}, item.Filter{All: true}), nil
}

func (c *clone) create() error {
	it, err := c.store().Create(c.ctx, item.Draft{Title: fmt.Sprintf("%s item %d", c.name, c.minute)})
	if err != nil {
		return err
	}
	c.out.Items++
	c.note("%s creates #%d %q", c.name, it.ID, it.Title)
	return nil
}

func (c *clone) change() error {
	items, err := c.items()
	if err != nil {
		return err
	}
	if len(items) == 0 || c.random.IntN(3) == 0 {
		return c.create()
	}
	it := items[c.random.IntN(len(items))]
	s := c.store()
	switch n := c.random.IntN(10); {
	case n < 3:
		text := fmt.Sprintf("%s said %d", c.name, c.minute)
		c.comments[text] = it.Created
		c.out.Comments++
		c.note("%s comments #%d", c.name, it.ID)
		_, err = s.AddComment(c.ctx, it.ID, c.name, text)
	case n < 5:
		c.note("%s updates #%d", c.name, it.ID)
		_, err = s.Update(c.ctx, it.ID, []item.Patch{
			{Status: new([]string{"todo", "in-progress", "review", "done"}[c.random.IntN(4)])},
			{Priority: new(item.Priorities()[c.random.IntN(4)])},
			{Assignee: new(c.name)},
			{Labels: new(append(slices.Clone(it.Labels), fmt.Sprintf("l%d", c.minute)))},
			{Title: new(fmt.Sprintf("%s title %d", c.name, c.minute))},
		}[c.random.IntN(5)])
	case n < 9:
		return c.relate(s, items, it)
	default:
		if c.random.IntN(2) == 0 {
			return nil
		}
		c.note("%s deletes #%d", c.name, it.ID)
		c.deleted[it.Created] = true
		err = s.Delete(c.ctx, it.ID, "", false)
	}
	return err
}

// relate makes an item a child or dependent of an older one, so that no cycle comes
// together.
func (c *clone) relate(s *local.Store, items []*item.Summary, it *item.Summary) error {
	to := items[c.random.IntN(len(items))]
	if to.Created >= it.Created {
		return nil
	}
	kind, patch := "parent", item.Patch{Parent: &to.ID}
	if c.random.IntN(2) == 0 {
		if slices.Contains(it.DependsOn, to.ID) {
			return nil
		}
		kind, patch = "depends_on", item.Patch{DependsOn: new(append(slices.Clone(it.DependsOn), to.ID))}
	}
	if c.related[kind][it.Created] == nil {
		c.related[kind][it.Created] = map[string]bool{}
	}
	c.related[kind][it.Created][to.Created] = true
	c.note("%s sets %s of #%d to #%d", c.name, kind, it.ID, to.ID)
	_, err := s.Update(c.ctx, it.ID, patch)
	return err
}

// merges runs a command that merges, and repairs and continues until git is content.
func (c *clone) merges(what string, args ...string) error {
	if out, err := c.git("status", "--porcelain"); out != "" || err != nil {
		return errors.Join(err, fmt.Errorf("%s is not clean: %s", c.name, out))
	}
	c.note("%s %s", c.name, what)
	c.out.Merges++
	c.told = nil
	before, err := c.git("rev-parse", "HEAD")
	if err != nil {
		return err
	}
	_, failed := c.git(args...)
	const maximum = 100
	for range maximum {
		if errors.Is(failed, errCrashed) {
			return c.undo(before)
		}
		done, err := c.store().Repair(c.ctx)
		if err != nil {
			return errors.Join(failed, err)
		}
		c.told = append(c.told, done.Fixes...)
		if done.Merge == nil || done.Merge.Done {
			break
		}
		c.out.Stops++
		if err := done.Merge.Add(c.ctx); err != nil {
			return err
		}
		failed = c.goOn(string(done.Merge.Kind))
	}
	if failed != nil { // git may have refused to begin
		repo, err := gitmerge.OpenRepo(c.ctx, filepath.Join(c.path, location.Name), git.Options{Env: xec.Env(c.env)})
		if err != nil {
			return errors.Join(err, failed)
		}
		if open, err := repo.Find(c.ctx); err != nil || open != nil {
			return errors.Join(err, failed, fmt.Errorf("%s: git is not content: %+v", c.name, open))
		}
	}
	return c.commit() // what was repaired after the merge
}

// undo reverts a merge in which git crashed, as a person has to: the lock that git left is removed,
// and the branch is where it was.
func (c *clone) undo(before string) error {
	c.out.Crashes++
	c.note("git crashes")
	if err := os.Remove(filepath.Join(c.path, ".git", "index.lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, operation := range []string{"merge", "rebase", "cherry-pick", "revert"} {
		_, _ = c.git(operation, "--abort") // at most one of them is in progress
	}
	return errors.Join(c.must("checkout", "-q", "-f", "main"), c.must("reset", "-q", "--hard", before), c.must("clean", "-fdq"))
}

func (c *clone) goOn(kind string) error {
	switch kind {
	case "merge":
		return c.must("commit", "-q", "--no-edit")
	case "cherry-pick", "revert":
		err := c.must("-c", "core.editor=true", kind, "--continue")
		if err != nil && (strings.Contains(err.Error(), "empty") || strings.Contains(err.Error(), "nothing to commit")) {
			return c.must(kind, "--skip")
		}
		return err
	}
	return c.must("-c", "core.editor=true", "rebase", "--continue")
}

// end merges all clones, and checks the result.
func (h *history) end() error {
	first := h.clones[0]
	for _, c := range h.clones[1:] {
		if err := first.must("fetch", "-q", c.path, "+HEAD:refs/remotes/"+c.name+"/main"); err != nil {
			return err
		}
		crashes := h.out.Crashes
		err := first.merges("merges all of "+c.name, "merge", "-q", "--no-edit", c.name+"/main")
		if err == nil && h.out.Crashes > crashes {
			err = first.merges("merges all of "+c.name+" without renames", "merge", "-q", "--no-edit", "-X", "no-renames", c.name+"/main")
		}
		if err != nil {
			return err
		}
	}
	if left, err := first.store().Check(h.ctx); err != nil || len(left) > 0 {
		h.out.Wrong = append(h.out.Wrong, fmt.Sprintf("the doctor finds %v %v", left, err))
	}
	return h.judge(first)
}

// judge compares the result with all changes that were ever made.
func (h *history) judge(c *clone) error {
	found, live, err := c.read()
	if err != nil {
		return err
	}
	missing := h.out.Items - len(found)
	for birth := range h.reverted {
		if created := strings.HasPrefix(birth, "2026-"); created && len(found[birth]) == 0 {
			missing--
		}
	}
	for birth, items := range found {
		if len(items) > 1 {
			h.out.Duplicated = append(h.out.Duplicated, fmt.Sprintf("item %s: %v", birth, items))
		}
	}
	if missing != 0 {
		h.out.Lost = append(h.out.Lost, fmt.Sprintf("%d items of %d", missing, h.out.Items))
	}
	h.judgeComments(found)
	for _, it := range live {
		if it.Parent != 0 {
			h.relation("parent", it, live[it.Parent])
		}
		for _, id := range it.DependsOn {
			h.relation("depends_on", it, live[id])
		}
	}
	return nil
}

// judgeComments looks for all comments that were ever made in the items, by birth.
func (h *history) judgeComments(found map[string][]item.Item) {
	for text, birth := range h.comments {
		n := 0
		for _, it := range found[birth] {
			for _, comment := range it.Comments {
				if comment.Body == text {
					n++
				}
			}
		}
		switch {
		case n == 0 && (h.reverted[text] || h.reverted[birth]):
		case n == 0:
			h.out.Lost = append(h.out.Lost, "comment "+text)
		case n > len(found[birth]):
			h.out.Duplicated = append(h.out.Duplicated, "comment "+text)
		}
	}
}

// read returns the items of a clone by the time of their creation, and those that are not
// in the trash by their numbers.
func (c *clone) read() (found map[string][]item.Item, live map[item.ID]item.Item, err error) {
	found, live = map[string][]item.Item{}, map[item.ID]item.Item{}
	for _, directory := range []string{"items", "trash"} {
		names, err := filepath.Glob(filepath.Join(c.path, ".tic", directory, "*.md"))
		if err != nil {
			return nil, nil, err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, nil, err
			}
			file, err := ticfile.Parse(string(text))
			var it item.Item
			if err == nil {
				it, _, err = file.Item()
			}
			if err != nil {
				c.out.Lost = append(c.out.Lost, fmt.Sprintf("%s %v", name, err))
				continue
			}
			found[it.Created] = append(found[it.Created], it)
			if directory == "items" {
				live[it.ID] = it
			}
		}
	}
	return found, live, nil
}

func (h *history) relation(kind string, it, to item.Item) {
	if !h.related[kind][it.Created][to.Created] {
		h.out.Wrong = append(h.out.Wrong, fmt.Sprintf("%s of #%d %q is #%d %q", kind, it.ID, it.Title, to.ID, to.Title))
	}
}
