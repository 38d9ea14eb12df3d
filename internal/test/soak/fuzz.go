package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/test/soak/rig"
)

var (
	target     = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	executions = regexp.MustCompile(`(?:execs: |baseline coverage: )(\d+)`)
	finding    = regexp.MustCompile(`Failing input written to (\S+)`)
)

// fuzzing says what to fuzz.
type fuzzing struct {
	each   time.Duration
	only   string // the name of the targets; "" for all
	sample int    // how many of them, chosen by the seed; 0 for all
	seed   uint64
	keep   bool // the file of a finding stays in testdata, where later tests read it
}

// run fuzzes the targets, one on each CPU.
func (f fuzzing) run(ctx context.Context) ([]rig.Result, error) {
	jobs, err := targets(f.only)
	if err != nil {
		return nil, err
	}
	if f.sample > 0 && f.sample < len(jobs) {
		random := rand.New(rand.NewPCG(f.seed, 0))
		random.Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
		jobs = jobs[:f.sample]
	}
	results := make([]rig.Result, len(jobs))
	errs := make([]error, len(jobs))
	next := make(chan int)
	var working sync.WaitGroup
	for range runtime.NumCPU() {
		working.Go(func() {
			for i := range next {
				results[i], errs[i] = jobs[i].fuzz(ctx, f.each, f.keep)
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	working.Wait()
	return results, errors.Join(errs...)
}

// job is a target to fuzz.
type job struct{ directory, name string }

// targets returns the targets of the module, or those of one name.
func targets(only string) (jobs []job, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || d.IsDir() {
			if d != nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
				return filepath.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range target.FindAllSubmatch(text, -1) {
			if name := string(m[1]); only == "" || only == name {
				jobs = append(jobs, job{"./" + filepath.ToSlash(filepath.Dir(path)), name})
			}
		}
		return err
	})
	return jobs, err
}

// fuzz fuzzes one target for a time.
func (j job) fuzz(ctx context.Context, each time.Duration, keep bool) (rig.Result, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-run=^$", "-fuzz=^"+j.name+"$", "-fuzztime="+each.String(), "-parallel=1", j.directory)
	out, err := cmd.CombinedOutput()
	tried := 0
	if all := executions.FindAllSubmatch(out, -1); len(all) > 0 {
		tried, _ = strconv.Atoi(string(all[len(all)-1][1])) // digits
	}
	res := rig.Result{What: "fuzzing " + j.name + " of " + strings.TrimPrefix(j.directory, "./internal/"), Tried: tried, Survived: tried}
	// At the end of its time the Go command may fail without a finding.
	if found := finding.FindSubmatch(out); err != nil && (found != nil || !bytes.Contains(out, []byte("context deadline exceeded"))) {
		res.Lost = 1
		res.Note = rig.Tail(string(out))
		if found != nil && !keep {
			path := filepath.Join(j.directory, filepath.FromSlash(string(found[1])))
			input, err := os.ReadFile(path)
			if err != nil {
				return res, err
			}
			res.Note += "\n" + string(input)
			return res, os.Remove(path)
		}
	} else if tried == 0 {
		return res, fmt.Errorf("%s of %s tried nothing:\n%s", j.name, j.directory, out)
	}
	return res, nil
}
