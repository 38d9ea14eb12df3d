package recipe

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/git/ownpath"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/credential"
	"github.com/copse-dev/copse/internal/recipe/capture"
	"github.com/copse-dev/copse/internal/recipe/dotenv"
	"github.com/copse-dev/copse/internal/recipe/justsource"
	"github.com/copse-dev/copse/internal/recipe/launcher"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/recipe/running"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/tempdir"
	"github.com/copse-dev/copse/internal/xec"
	"github.com/copse-dev/copse/internal/xec/guard"
	"github.com/copse-dev/copse/internal/xec/terminal"
)

// DefaultTimeout is the default time limit of a recipe.
const DefaultTimeout = 10 * time.Minute

// Justfile is the justfile of a project. It is safe for concurrent use.
type Justfile struct {
	root    string
	env     xec.Env        // environment of recipes that a person starts
	plain   xec.Env        // the same without credentials
	names   func() xec.Env // the environment with which just reads the justfile
	journal *Journal
	o       Options

	mu   sync.Mutex // one read at a time
	kept *reading

	state    sync.Mutex
	closed   chan struct{}
	over     bool // it is closed
	runs     sync.WaitGroup
	launched launcher.Found
}

// reading is the content of a justfile.
type reading struct {
	path      string
	sources   *justsource.Sources
	recipes   []Recipe
	variables []dotenv.Search
	err       error
}

// Options configure how recipes run. The zero value is ready to use.
type Options struct {
	// Self is the path of a program that begins with [guard.Main], to run recipes under
	// guards; "" runs them without.
	Self string
	// Main is the root of the main worktree, if it is another one. A program just in either is the
	// repository's own, and does not count.
	Main string
	// PassCredentials reports whether recipes that an assistant starts see the user's
	// credentials; nil means that they do not.
	PassCredentials func() (bool, error)
}

// New returns the justfile of the project at root, an absolute path, which may not have one. just
// and its recipes get the environment.
func New(root string, env xec.Env, journal *Journal, o Options) *Justfile {
	own, names := make(xec.Env, 0, len(env)), make(xec.Env, 0, len(env))
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "JUST_") {
			continue
		}
		own = append(own, kv)
		names = append(names, named(name, kv))
	}
	plain := xec.Env(credential.Public(own))
	return &Justfile{
		root: root, env: own.With("GIT_TERMINAL_PROMPT=0"), plain: plain.With("GIT_TERMINAL_PROMPT=0"), names: sync.OnceValue(func() xec.Env { return ownpath.Without(names, root, o.Main) }),
		journal: journal, o: o, closed: make(chan struct{}),
	}
}

// named returns a variable of the environment with its own name as its value: x'$TOKEN' in a
// justfile shows what it would insert and not the value. The variables that just, the system, and a
// version manager whose shim just is need keep their values.
func named(name, variable string) string {
	upper := strings.ToUpper(name)
	switch upper {
	case "PATH", "HOME", "USERPROFILE", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "SYSTEMDRIVE", "PATHEXT", "LANG", "XDG_RUNTIME_DIR",
		"XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME":
		return variable
	}
	contains := func(part string) bool { return strings.Contains(upper, part) }
	begins := func(part string) bool { return strings.HasPrefix(upper, part) }
	if slices.ContainsFunc([]string{"MISE_", "ASDF_", "PROTO_", "VOLTA_"}, begins) && !slices.ContainsFunc([]string{"TOKEN", "KEY", "PASS", "SECRET"}, contains) &&
		!strings.Contains(variable, "://") { // a URL can contain a login
		return variable
	}
	return name + "=$" + name
}

// environment returns the environment of a call's recipe.
func (j *Justfile) environment(c Call) (xec.Env, error) {
	if c.Person {
		return j.env, nil
	}
	if j.o.PassCredentials != nil {
		pass, err := j.o.PassCredentials()
		if err != nil {
			return nil, err
		}
		if pass {
			return j.env, nil
		}
	}
	return j.plain, nil
}

// Close stops the running recipes and waits until all their processes have ended. Afterward,
// nothing can run.
func (j *Justfile) Close() {
	j.state.Lock()
	if !j.over {
		j.over = true
		close(j.closed)
	}
	j.state.Unlock()
	j.runs.Wait()
}

var errClosed = errors.New("the server is shutting down")

// enter begins a run, which ends early when the justfile is closed.
func (j *Justfile) enter(ctx context.Context) (_ context.Context, leave func(), err error) {
	j.state.Lock()
	defer j.state.Unlock()
	if j.over {
		return nil, nil, errClosed
	}
	j.runs.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-j.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		j.runs.Done()
	}, nil
}

// Recipes returns the public recipes, by name. The error is a [MissingError], a [*justsource.FileError], a
// [NotInstalledError], or explains why just did not answer.
func (j *Justfile) Recipes(ctx context.Context) ([]Recipe, error) {
	r, err := j.read(ctx)
	if err != nil {
		return nil, err
	}
	return r.recipes, r.err
}

// read returns the current content of the justfile. An error is one of those of Recipes, as is that of the reading.
func (j *Justfile) read(ctx context.Context) (*reading, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	path, err := j.find()
	if err != nil {
		return nil, err
	}
	if j.kept != nil && j.kept.path == path && j.kept.sources.Files().Same() {
		return j.kept, nil
	}
	j.kept = nil
	r := j.understand(ctx, path)
	if _, refused := errors.AsType[*justsource.FileError](r.err); r.err == nil || refused {
		j.kept = r
	}
	return r, nil
}

var errNoRoot = &justsource.FileError{Problem: "The project root cannot be read"}

// open opens the root.
func (j *Justfile) open() (*rooted.Root, error) {
	root, err := rooted.Open(j.root)
	if err == nil {
		return root, nil
	}
	return nil, errNoRoot
}

// find returns the path of the justfile: just accepts its names in any case.
func (j *Justfile) find() (string, error) {
	root, err := j.open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	entries, err := root.ReadDir(".")
	if err != nil {
		return "", errNoRoot
	}
	var found []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && justsource.IsJustfile(name) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", MissingError{}
	case 1:
		return filepath.Join(j.root, found[0]), nil
	}
	return "", &justsource.FileError{Problem: "There are several justfiles in the project root: " + strings.Join(found, ", ") + ". Keep one"}
}

// understand reads the justfile at a path in the root, and the files on which it depends.
func (j *Justfile) understand(ctx context.Context, path string) *reading {
	r := &reading{path: path, sources: &justsource.Sources{}}
	root, err := j.open()
	if err != nil {
		r.err = err
		return r
	}
	defer root.Close()
	home := cmp.Or(j.env.Get("HOME"), j.env.Get("USERPROFILE"))
	if r.sources, r.err = justsource.Read(root, j.root, home, filepath.Base(path)); r.err == nil {
		r.recipes, r.variables, r.err = j.dump(ctx, r.sources, filepath.Base(path), j.names())
	}
	return r
}

const (
	dumpTimeout = 10 * time.Second
	// dumpMemory is the maximum memory of just while it reads a justfile, whose constants can double
	// in each line.
	dumpMemory = 256 << 20
	// dumpProcessor is the maximum processor time for that. Thousands of recipes take a tenth of it;
	// just compares each parameter of a recipe with all others, and follows each constant again.
	dumpProcessor = time.Second
)

// dump lets just read copies of the sources in an environment. A concurrent change of the justfile, or an import that
// only just recognizes, therefore leads it nowhere else.
func (j *Justfile) dump(ctx context.Context, s *justsource.Sources, name string, env xec.Env) ([]Recipe, []dotenv.Search, error) {
	just, err := j.program(ctx)
	if err != nil {
		return nil, nil, err
	}
	made, err := tempdir.New("copse-just-")
	if err != nil {
		return nil, nil, fmt.Errorf("copy the justfile: %w", err)
	}
	defer made.Close()
	dir := filepath.Join(made.Path, "project") // beside the lock, whose name a source can have
	if err := s.Copy(dir); err != nil {
		return nil, nil, err
	}
	res, err := xec.Run(ctx, xec.Command{
		Name: just, Env: env, Timeout: dumpTimeout, MaxOutput: 32 << 20, MaxMemory: dumpMemory, MaxProcessor: dumpProcessor,
		Args: []string{"--justfile", filepath.Join(dir, name), "--working-directory", dir, "--color", "never", "--dump", "--dump-format", "json"},
	})
	if exit, ok := errors.AsType[*xec.ExitError](err); ok {
		if said := strings.TrimSpace(exit.Stderr); said != "" && !strings.Contains(said, "error: ") { // just begins its messages with it
			return nil, nil, &justsource.FileError{
				Problem: "`just` does not start in your home directory, where copse starts it: " + strings.TrimSuffix(justsource.Complaint(exit.Stderr, dir), ".") +
					". If a version manager has it for this project only, choose a version for your account, too",
			}
		}
		return nil, nil, &justsource.FileError{Problem: "The justfile cannot be used: " + justsource.Complaint(exit.Stderr, dir)}
	}
	if errors.Is(err, xec.ErrProcessor) {
		return nil, nil, &justsource.FileError{
			Problem: "The justfile cannot be used: just needs more than a second of processor time to read it; give each recipe fewer parameters, and let fewer variables use each other",
		}
	}
	if err != nil {
		return nil, nil, j.explain(err)
	}
	environment := make([]string, len(j.env))
	for i, variable := range j.env {
		environment[i], _, _ = strings.Cut(variable, "=")
	}
	return parseDump(res.Stdout, s, dir, environment)
}

// program returns the path of just. One in the project does not count, although its recipes find the
// project's programs. The error is a [NotInstalledError], or says why just does not start.
func (j *Justfile) program(ctx context.Context) (string, error) {
	path, err := j.names().LookPath("just")
	if err != nil {
		return "", j.explain(err)
	}
	return j.launched.Find(ctx, path, j.names()), nil
}

// explain explains why just did not start.
func (j *Justfile) explain(err error) error {
	if in, ok := errors.AsType[*xec.SkippedError](err); ok {
		return NotInstalledError{Skipped: in.Path}
	}
	if errors.Is(err, xec.ErrNotInstalled) {
		return NotInstalledError{}
	}
	return err
}

// Call selects a recipe to run.
type Call struct {
	Name string
	Args []string
	// Timeout is its time limit; 0 is DefaultTimeout.
	Timeout time.Duration
	// Confirmed is the answer to the question of a recipe that asks for confirmation.
	Confirmed bool
	// Person means that a person typed the call: the recipe gets their credentials, and its
	// arguments are any text.
	Person bool
	// Terminal is the person's terminal if the recipe gets one of its own, and nil otherwise.
	Terminal *terminal.Person
	// Client is the caller: the name of an MCP client, or a command.
	Client string
	// Begun is called when the recipe has been accepted and is about to start; nil does nothing.
	Begun func(running.Task)
}

// Run is the outcome of a call, and the record of the last one.
type Run struct {
	Task string   `json:"task"`
	Args []string `json:"args,omitempty"`
	// ExitCode is -1 if the recipe was stopped.
	ExitCode int `json:"exit_code"`
	// Problem describes any other failure: that the recipe was stopped, and why.
	Problem string `json:"problem,omitempty"`
	// Reasons are the lines of the output that explain a failure, if it is hard to find them.
	Reasons []string `json:"reasons,omitempty"`
	// TimedOut means that it was stopped after its time limit.
	TimedOut bool          `json:"timed_out,omitempty"`
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"duration_ns"`
}

// Failed reports whether the recipe failed.
func (r Run) Failed() bool { return r.ExitCode != 0 || r.Problem != "" }

// maxClient is the number of displayed characters of a client's name.
const maxClient = 60

// stoppedError names the one who stopped a task.
type stoppedError string

func (e stoppedError) Error() string { return "stopped by " + string(e) }

// Running returns the user's running tasks, in every process and every project.
func (j *Justfile) Running() []running.Task { return j.journal.Running() }

// Stop ends a task of the user, in any process and project. by names the one who stops it. The
// errors are those of [running.Registry.Stop].
func (j *Justfile) Stop(ctx context.Context, id, by string) (running.Task, error) {
	return j.journal.tasks.Stop(ctx, id, by)
}

// inserted returns the content of a justfile in the environment of a run. The error is a [*justsource.FileError]
// if just would read files with variables outside the project; it shows no value of the environment.
func (j *Justfile) inserted(ctx context.Context, content *reading, env xec.Env) (*reading, error) {
	if err := j.contained(content); err != nil || !content.sources.Expand() {
		return content, err
	}
	root, err := j.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	sources := content.sources.In(root)
	now := &reading{path: content.path, sources: sources}
	now.recipes, now.variables, now.err = j.dump(ctx, sources, filepath.Base(content.path), env.With(xec.Marker+"="+rand.Text()))
	err = j.contained(now)
	if _, refused := errors.AsType[*justsource.FileError](err); refused {
		err = &justsource.FileError{Problem: "The justfile cannot be used: with the variables of your environment, which it inserts into strings such as x\"$NAME\", it has a mistake, or just would read or work outside the project; write plain strings in its settings"}
	}
	return now, err
}

// contained returns the error of a reading, or one about a file with variables outside the project.
func (j *Justfile) contained(r *reading) error {
	if r.err != nil {
		return r.err
	}
	if err := dotenv.Check(r.variables, j.root, j.o.Main); err != nil {
		return &justsource.FileError{Problem: err.Error()}
	}
	return nil
}

// accept returns the recipe of a call, if it may run.
func (r *reading) accept(c Call) (Recipe, error) {
	at := slices.IndexFunc(r.recipes, func(r Recipe) bool { return r.Name == c.Name || slices.Contains(r.Aliases, c.Name) })
	if at < 0 {
		return Recipe{}, &UnknownError{Name: cleantext.Line(c.Name), Known: r.recipes}
	}
	called := r.recipes[at]
	if err := called.accepts(c.Args); err != nil {
		return Recipe{}, err
	}
	if !c.Person {
		if err := called.checkSpliced(c.Args); err != nil {
			return Recipe{}, err
		}
	}
	return called, nil
}

// Run runs a recipe and writes its output to out, both streams in their order. A recipe that failed
// or was stopped is not an error. The errors are those of Recipes, an [*UnknownError], an
// [*ArgumentsError], a [*SplicedError], or a [*BusyError].
func (j *Justfile) Run(ctx context.Context, c Call, out io.Writer) (Run, error) {
	ctx, leave, err := j.enter(ctx)
	if err != nil {
		return Run{}, err
	}
	defer leave()
	content, err := j.read(ctx)
	if err != nil {
		return Run{}, err
	}
	env, err := j.environment(c)
	if err != nil {
		return Run{}, err
	}
	if content, err = j.inserted(ctx, content, env); err != nil {
		return Run{}, err
	}
	called, err := content.accept(c)
	if err != nil {
		return Run{}, err
	}
	program, err := j.program(ctx)
	if err != nil {
		return Run{}, err
	}
	release, err := j.journal.begin(called.Name)
	if busy, ok := errors.AsType[*BusyError](err); ok {
		if task, ok := j.journal.tasks.Find(j.root, called.Name); ok {
			busy.Task = &task
		}
	}
	if err != nil {
		return Run{}, err
	}
	defer release()
	hurry := ctx.Done() // a client that cancels, and a server that ends, wait for nothing
	if c.Person {
		hurry = j.closed
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)

	var kept capture.Output
	all := capture.To(&kept, out, content.sources, len(content.variables) > 0, c.Terminal != nil)
	run := Run{Task: called.Name, Args: c.Args, Started: time.Now().UTC()}
	task := j.journal.tasks.Begin(running.Task{
		Name: run.Task, Args: j.journal.clean(run.Args), Root: j.root, Started: run.Started,
		Client: cmp.Or(cleantext.Cut(cleantext.Line(c.Client), maxClient), running.Unnamed),
	}, func(by string) { stop(stoppedError(by)) })
	defer task.End()
	recording := j.journal.runs.Begin(task.Task(), kept.Text)
	defer recording.End(runlog.Outcome{State: runlog.Failed, ExitCode: -1, Problem: "it could not be started"}) // unless it has ended
	if c.Begun != nil {
		c.Begun(task.Task())
	}
	args := []string{"--justfile", content.path, "--working-directory", j.root, "--color", "never"}
	if called.hasOptions() {
		args = append(args, "--one") // so no argument is a recipe; just has had it longer than other options
	}
	if c.Confirmed {
		args = append(args, "--yes")
	}
	timeout := cmp.Or(c.Timeout, DefaultTimeout)
	err = xec.Stream(ctx, guard.Wrap(xec.Command{
		Name: program, Dir: j.root, Env: env, Timeout: timeout, Args: append(append(args, "--", called.Name), c.Args...), Started: task.Lead, Stopping: all.Interrupt,
		Grace: running.Grace, Hurry: hurry, Person: c.Terminal,
	}, j.o.Self), all)
	run.Duration = time.Since(run.Started)
	all.End(j.journal.text)
	by := task.StoppedBy()
	if stopped, ok := errors.AsType[stoppedError](context.Cause(ctx)); ok {
		by = string(stopped)
	}
	exit, exited := errors.AsType[*xec.ExitError](err)
	switch {
	case by != "":
		run.ExitCode, run.Problem = -1, "stopped by "+cleantext.Cut(cleantext.Line(by), maxClient)
	case err == nil:
	case exited:
		if run.ExitCode = exit.Code; exit.Code < 0 {
			run.Problem = "just ended with " + exit.State
		} else {
			text, _ := kept.Text()
			run.Problem = cmp.Or(c.unconfirmed(text), credential.Withheld(j.env, env, append(credential.Named(text), called.credentials...)))
		}
	case errors.Is(err, context.Canceled), ctx.Err() != nil:
		run.ExitCode, run.Problem = -1, "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		run.ExitCode, run.Problem, run.TimedOut = -1, fmt.Sprintf("stopped after the time limit of %s", timeout), true
	case errors.Is(err, xec.ErrNotInstalled), errors.Is(err, fs.ErrNotExist):
		return Run{}, j.explain(err)
	default:
		return Run{}, err
	}
	if run.Failed() {
		run.Reasons = kept.Reasons(j.journal.text)
	}
	j.journal.record(run, &kept)
	recording.End(run.outcome())
	return run, nil
}

// unconfirmed explains that just asked a question that nobody answered; "" if the output does not say so.
func (c Call) unconfirmed(output string) string {
	switch {
	case c.Confirmed || !strings.Contains(output, "` was not confirmed"):
		return ""
	case c.Person:
		return "the recipe was not confirmed; run it in a terminal, or with --yes before its name"
	}
	return "the recipe asks for confirmation, which only a person can give: with `copse task run` in a terminal"
}

// outcome returns the outcome of the run.
func (r Run) outcome() runlog.Outcome {
	o := runlog.Outcome{
		State: runlog.Done, ExitCode: r.ExitCode, Problem: r.Problem, Reasons: r.Reasons, TimedOut: r.TimedOut, Ended: r.Started.Add(r.Duration),
	}
	switch {
	case r.ExitCode < 0:
		o.State = runlog.Stopped
	case r.Failed():
		o.State = runlog.Failed
	}
	return o
}

// Start runs a recipe in the background. It returns when the recipe has been accepted, and the run
// continues until it ends, [Justfile.Stop], or [Justfile.Close]. [Justfile.Report] returns its
// outcome. The errors are those of Run.
func (j *Justfile) Start(ctx context.Context, c Call) (running.Task, error) {
	begun, refused := make(chan running.Task, 1), make(chan error, 1)
	c.Begun = func(t running.Task) { begun <- t }
	background, cancel := context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer cancel()
		_, err := j.Run(background, c, io.Discard)
		refused <- err
	}()
	select {
	case t := <-begun:
		return t, nil
	case err := <-refused:
		select {
		case t := <-begun: // it has begun and ended in the meantime
			return t, nil
		default:
			return running.Task{}, err
		}
	case <-ctx.Done():
		cancel()
		return running.Task{}, context.Cause(ctx)
	}
}

// Report returns the report of a run of the user, in any process and project. During the run, it
// first waits for its end, for at most wait. The error is a [*runlog.NotFoundError].
func (j *Justfile) Report(ctx context.Context, id string, wait time.Duration) (runlog.Report, error) {
	return j.journal.runs.Get(ctx, id, wait)
}

// Latest returns the user's recorded runs, in every project, the latest first.
func (j *Justfile) Latest() []runlog.Report { return j.journal.runs.Latest() }
