package ticfile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/yamlmap"
)

// The keys of the configuration that are used here.
const (
	keyBackend          = "backend"
	keyTypes            = "types"
	keyStatuses         = "statuses"
	keyCurrentIteration = "current_iteration"
	keyIterations       = "iterations"
	keyNextID           = "next_id"
	keyDoneStatuses     = "done_statuses"
)

// maxChoices is the maximum number of types, and of statuses, and maxChoicesSize their size in bytes:
// each item is compared with them, and messages list them.
const (
	maxChoices     = 1000
	maxChoicesSize = 64 << 10
	// maxIterations is the maximum number of iterations, and maxIterationsSize their size in bytes.
	maxIterations     = 10_000
	maxIterationsSize = 1 << 20
	// maxListed is the number of characters of the statuses in a message of which a file can have many.
	maxListed = 1000
)

// backendLocal is the only backend that is served.
const backendLocal = "local"

// NewConfig is the text of a new project's configuration.
const NewConfig = `backend: local
types:
  - epic
  - issue
  - task
statuses:
  - backlog
  - todo
  - in-progress
  - review
  - done
current_iteration: default
iterations:
  - default
next_id: 1
branchMode: worktree
autoUpdate: true
`

// Config is the configuration file of a project. It is not for concurrent use.
type Config struct {
	bom    string
	front  *yamlmap.Map
	values item.Config
	nextID item.ID
	// problems are the unusable parts; their texts continue after the name of the file.
	problems []string
}

// ParseConfig reads a configuration. There are no defaults: what cannot be used
// is an error, whose text continues after the name of the file.
func ParseConfig(text string) (*Config, error) {
	c, err := parseConfig(text)
	if err != nil && hasConflict(text) {
		return nil, ErrConflict
	}
	return c, err
}

func parseConfig(text string) (*Config, error) {
	c := &Config{}
	rest, ok := strings.CutPrefix(text, "\ufeff")
	if ok {
		c.bom = "\ufeff"
	}
	if strings.TrimSpace(rest) == "" {
		return nil, errors.New("is empty; restore it, or remove it and initialize the project again")
	}
	front, err := yamlmap.Parse(rest)
	if err != nil {
		return nil, fmt.Errorf("is not usable YAML: %w; correct it", err)
	}
	c.front = front
	r := configReader{front: front}
	if backend := r.text(keyBackend); backend != "" && backend != backendLocal && r.err == nil {
		return nil, fmt.Errorf("has the backend %q, and copse reads only %q; to use copse instead of that backend, set \"backend: %s\"", backend, backendLocal, backendLocal)
	}
	c.values = item.Config{
		Types:            r.list(keyTypes),
		Statuses:         r.list(keyStatuses),
		CurrentIteration: r.text(keyCurrentIteration),
		Iterations:       r.list(keyIterations),
		DoneStatuses:     r.list(keyDoneStatuses),
		NextID:           r.id(keyNextID),
	}
	c.nextID = c.values.NextID
	if r.err != nil {
		return nil, r.err
	}
	for _, key := range []string{keyTypes, keyStatuses} {
		if len(r.list(key)) == 0 {
			return nil, fmt.Errorf("is not the configuration of a tic project: it has no %s", key)
		}
	}
	if err := checkLists(c.values); err != nil {
		return nil, err
	}
	for _, status := range c.values.DoneStatuses {
		if !slices.Contains(c.values.Statuses, status) {
			c.problems = append(c.problems, fmt.Sprintf("has the %s %q, which is not one of the statuses: %s", keyDoneStatuses, status, cleantext.Cut(strings.Join(c.values.Statuses, ", "), maxListed)))
		}
	}
	return c, nil
}

// checkLists returns an error if a list of the configuration is too long. A merge and a new iteration are
// refused for it, too, or nobody could read the configuration after them.
func checkLists(v item.Config) error {
	for _, l := range []struct {
		key        string
		list       []string
		most, size int
	}{
		{keyTypes, v.Types, maxChoices, maxChoicesSize},
		{keyStatuses, v.Statuses, maxChoices, maxChoicesSize},
		{keyDoneStatuses, v.DoneStatuses, maxChoices, maxChoicesSize},
		{keyIterations, v.Iterations, maxIterations, maxIterationsSize},
	} {
		size := 0
		for _, value := range l.list {
			size += len(value)
		}
		if len(l.list) > l.most || size > l.size {
			return fmt.Errorf("has too many %s; at most %d, with %d KiB together, are allowed", l.key, l.most, l.size>>10)
		}
	}
	return nil
}

// configReader takes values from a configuration. Its error is the first.
type configReader struct {
	front *yamlmap.Map
	err   error
}

func (r *configReader) refuse(key, want string) {
	if r.err == nil {
		r.err = fmt.Errorf("has a %s that is not %s", key, want)
	}
}

func (r *configReader) text(key string) string {
	v := r.front.Get(key)
	if v.Kind == yamlmap.List || v.Kind == yamlmap.Other {
		r.refuse(key, "text")
	}
	return v.Text
}

func (r *configReader) list(key string) []string {
	v := r.front.Get(key)
	if v.Kind == yamlmap.Scalar || v.Kind == yamlmap.Other {
		r.refuse(key, "a list of strings")
	}
	return v.Items
}

func (r *configReader) id(key string) item.ID {
	text := r.text(key)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || item.ID(n) > item.MaxID+1 {
		r.refuse(key, fmt.Sprintf("a whole number up to %d", item.MaxID+1))
	}
	return item.ID(n)
}

// Values returns the values of the configuration. They must not be changed.
func (c *Config) Values() item.Config { return c.values }

// Problems returns what is in the configuration but cannot be used. They continue after the name of the
// file.
func (c *Config) Problems() []string { return c.problems }

// NextID returns the number for the next item, 0 if there is none.
func (c *Config) NextID() item.ID { return c.nextID }

// SetNextID sets the number for the next item.
func (c *Config) SetNextID(id item.ID) error {
	if id == c.nextID {
		return nil
	}
	c.nextID, c.values.NextID = id, id
	return c.front.SetInt(keyNextID, int64(id))
}

// AddIteration adds an iteration.
func (c *Config) AddIteration(name string) error {
	if slices.Contains(c.values.Iterations, name) {
		return nil
	}
	v := c.values
	v.Iterations = append(slices.Clone(v.Iterations), name)
	if err := checkLists(v); err != nil {
		return &item.InvalidError{Field: "iteration", Problem: fmt.Sprintf("The configuration %v. Use an iteration that exists, or remove some from it", err)}
	}
	c.values = v
	return c.front.Append(keyIterations, name)
}

// SetCurrentIteration sets the current iteration.
func (c *Config) SetCurrentIteration(name string) error {
	if name == c.values.CurrentIteration {
		return nil
	}
	c.values.CurrentIteration = name
	return c.front.SetText(keyCurrentIteration, name)
}

// SetDoneStatuses sets the statuses that mean done; none restores the default.
func (c *Config) SetDoneStatuses(statuses []string) error {
	for _, status := range statuses {
		if !slices.Contains(c.values.Statuses, status) {
			return &item.InvalidError{
				Field:   keyDoneStatuses,
				Problem: fmt.Sprintf("Invalid status %q. Valid statuses: %s", status, foreign.Mention(c.values.Statuses...)),
			}
		}
	}
	c.values.DoneStatuses = statuses
	if len(statuses) == 0 {
		return c.front.Delete(keyDoneStatuses)
	}
	return c.front.SetList(keyDoneStatuses, statuses)
}

// Text returns the text of the file.
func (c *Config) Text() string { return c.bom + c.front.Text() }

// MergeConfig finishes a merge that git could not: the lists have what either
// version has, the next number is the larger one, and else ours counts.
func MergeConfig(text string) (*Config, error) {
	ourText, theirText, ok := Versions(text)
	if !ok {
		return nil, ErrConflict
	}
	ours, err := ParseConfig(ourText)
	if err != nil {
		return nil, err
	}
	theirs, err := ParseConfig(theirText)
	if err != nil {
		return nil, err
	}
	for _, list := range []struct {
		key          string
		ours, theirs []string
		at           int // where the ones that ours lacks go
	}{
		{keyTypes, ours.values.Types, theirs.values.Types, len(ours.values.Types)},
		{keyStatuses, ours.values.Statuses, theirs.values.Statuses, len(ours.values.Statuses) - 1}, // the last means done
		{keyIterations, ours.values.Iterations, theirs.values.Iterations, len(ours.values.Iterations)},
	} {
		missing := distinct.Without(list.theirs, list.ours)
		if len(missing) == 0 {
			continue
		}
		if err := ours.front.SetList(list.key, slices.Insert(slices.Clone(list.ours), list.at, missing...)); err != nil {
			return nil, err
		}
	}
	if err := ours.SetNextID(max(ours.nextID, theirs.nextID)); err != nil {
		return nil, err
	}
	return ParseConfig(ours.Text())
}
