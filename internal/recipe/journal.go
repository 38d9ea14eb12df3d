package recipe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/recipe/capture"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
)

// Journal records the last run of a project's recipes, and the running ones, in a directory that
// all processes of a user share. If there is no such directory, or it cannot be written, it records
// them only for this process.
type Journal struct {
	directory string
	file      string // the name of the project in the directory, without ending
	last      *cachedfile.File[LastRun]

	tasks *running.Registry
	runs  *runlog.Log
	// redact returns a text without secrets, and part the same for one that continues; nil returns
	// it unchanged.
	redact, part func(string) string

	mu      sync.Mutex
	running map[string]bool
	own     *LastRun
}

// LastRun is the last run and the end of its output.
type LastRun struct {
	Run
	// Tail are its last lines.
	Tail string `json:"tail,omitempty"`
}

const (
	// tailLines and maxTail limit the stored output.
	tailLines = 20
	maxTail   = 4 << 10
	// maxStored limits the stored arguments. Readers refuse a record of more than maxRecord, and JSON
	// needs up to six bytes for one.
	maxStored = 4 << 10

	maxRecord = 64 << 10
)

// NewJournal returns the journal of the project at root. The directory is created when it is first
// needed; "" is none.
func NewJournal(directory, root string) *Journal {
	sum := sha256.Sum256([]byte(root))
	j := &Journal{directory: directory, file: hex.EncodeToString(sum[:8]), running: map[string]bool{}}
	j.tasks, j.runs = running.NewRegistry(""), runlog.New("", j.text).Growing(j.growing)
	if directory != "" {
		j.tasks, j.runs = running.NewRegistry(filepath.Join(directory, "running")), runlog.New(filepath.Join(directory, "runs"), j.text).Growing(j.growing)
		j.last = cachedfile.New(filepath.Join(directory, j.file+".json"), maxRecord, func(data []byte) (LastRun, error) {
			var l LastRun
			err := json.Unmarshal(data, &l)
			return l, err
		})
	}
	return j
}

// Running returns the user's running tasks, of all projects.
func (j *Journal) Running() []running.Task { return j.tasks.List() }

// Redacted makes the journal store only texts that redact has returned, without secrets, and
// beginnings of texts that part has returned. It returns the journal.
func (j *Journal) Redacted(redact, part func(string) string) *Journal {
	j.redact, j.part = redact, part
	return j
}

// clean returns arguments in their stored form, which is for display: no more than maxStored bytes
// together, and a note in place of the rest.
func (j *Journal) clean(args []string) []string {
	var kept []string
	room := maxStored
	for i, arg := range args {
		arg = j.text(arg)
		if len(arg) > room {
			kept = append(kept, strings.ToValidUTF8(arg[:room], "")+"…")
			if more := len(args) - i - 1; more > 0 {
				kept = append(kept, fmt.Sprintf("… and %d more", more))
			}
			return kept
		}
		room -= len(arg)
		kept = append(kept, arg)
	}
	return kept
}

// text returns a text in its stored form.
func (j *Journal) text(text string) string {
	if j.redact == nil {
		return text
	}
	return j.redact(text)
}

// growing returns the beginning of a text in its stored form.
func (j *Journal) growing(text string) string {
	if j.part == nil {
		return text
	}
	return j.part(text)
}

// Last returns the last run; ok is false if there is no record of one.
func (j *Journal) Last() (last LastRun, ok bool) {
	j.mu.Lock()
	own := j.own
	j.mu.Unlock()
	if j.last != nil {
		if found, err := j.last.Get(); err == nil && (own == nil || !own.Started.After(found.Started)) {
			return found, true
		}
	}
	if own == nil {
		return LastRun{}, false
	}
	return *own, true
}

// begin marks a recipe as running, until release is called or the process ends.
func (j *Journal) begin(name string) (release func(), err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running[name] {
		return nil, &BusyError{Name: name}
	}
	lock, free := j.lock(name)
	if !free {
		return nil, &BusyError{Name: name}
	}
	j.running[name] = true
	return func() {
		if lock != nil {
			_ = lock.Close() // the lock ends with the file
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.running, name)
	}, nil
}

// lock keeps other processes from running the recipe, unless one of them already does; if locking
// is impossible, the recipe runs without a lock.
func (j *Journal) lock(name string) (lock *flock.Flock, free bool) {
	if j.directory == "" || ownership.MakeAll(j.directory) != nil {
		return nil, true
	}
	sum := sha256.Sum256([]byte(name))
	name = filepath.Join(j.directory, j.file+"-"+hex.EncodeToString(sum[:8])+".lock")
	file, err := ownership.Open(name, os.O_RDONLY)
	if err != nil {
		return nil, true
	}
	_ = file.Close()
	lock = flock.New(name)
	locked, err := lock.TryLock()
	if err != nil {
		return nil, true
	}
	return lock, locked
}

// recordTimeout is how long the record waits for another process.
const recordTimeout = time.Second

// record stores a run. A failure to do so does not fail the run.
func (j *Journal) record(run Run, out *capture.Output) {
	text, _ := out.Text()
	run.Args = j.clean(run.Args)
	last := &LastRun{Run: run, Tail: tail(j.text(text))}
	j.mu.Lock()
	j.own = last
	j.mu.Unlock()
	data, err := json.Marshal(last)
	if err != nil || j.directory == "" {
		return
	}
	path := filepath.Join(j.directory, j.file+".json")
	_ = lockedstore.EditPrivate(context.Background(), path, recordTimeout, func(old []byte) ([]byte, error) {
		var before LastRun
		if json.Unmarshal(old, &before) == nil && before.Started.After(run.Started) {
			return old, nil
		}
		return data, nil
	})
}

// tail returns the end of an output.
func tail(text string) string {
	text = strings.TrimRight(text, "\n")
	lines := strings.Split(text, "\n")
	text = strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
	if over := len(text) - maxTail; over > 0 {
		text = text[over:]
		if _, rest, ok := strings.Cut(text, "\n"); ok {
			text = rest
		}
		text = "…\n" + strings.ToValidUTF8(text, "")
	}
	return text
}
