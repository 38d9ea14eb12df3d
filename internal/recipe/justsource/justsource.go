// Package justsource reads the files of a justfile: itself, its imports, and its modules, at any depth.
//
// [Read] follows the statements that name other files, as just does, and refuses one outside the
// project. [Sources.Copy] writes what was read into a directory for just, so just reads these texts
// and nothing else, whatever happens to the files in the meantime.
package justsource

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/lazyregexp"
	"github.com/copse-dev/copse/internal/rooted"
)

// Limits of a justfile's sources. A file counts each time that just reads it: once for each import
// and each module that names it.
const (
	maxSource  = 1 << 20
	maxSources = 500
	maxTotal   = 8 << 20
)

// FileError explains why the project's justfile is unusable.
type FileError struct {
	// Problem is for display; it contains just's message about an error.
	Problem string
}

func (e *FileError) Error() string { return e.Problem }

// Sources are the files of a justfile. All of them are in the project.
type Sources struct {
	root  *rooted.Root
	dir   string // the absolute path of the root
	home  string
	texts map[string]string // by name, with paths that only lead to copies
	total int
	// named are the files that each file names, as often as it names them.
	named map[string][]string
	files *cachedfile.Group
}

// Read returns the sources of the justfile with this name in the root, whose absolute path is dir. An
// error is a [*FileError]; the sources then have the files that were read.
func Read(root *rooted.Root, dir, home, name string) (*Sources, error) {
	s := &Sources{root: root, dir: dir, home: home, texts: map[string]string{}, named: map[string][]string{}, files: &cachedfile.Group{}}
	for next := []string{name}; len(next) > 0; next = next[1:] {
		if _, done := s.texts[next[0]]; done {
			continue
		}
		found, err := s.add(next[0])
		if err != nil {
			return s, err
		}
		s.named[next[0]] = found
		next = append(next, found...)
	}
	return s, s.measure(name, map[string]load{}).problem()
}

// load is the number of files that just reads, and their size.
type load struct{ files, bytes int }

// measure returns what just reads for a file and those that it names, up to the limits. Twenty files
// that each name the next one twice are a million.
func (s *Sources) measure(name string, known map[string]load) load {
	if l, ok := known[name]; ok {
		return l
	}
	all := load{files: 1, bytes: len(s.texts[name])}
	known[name] = all // just reports a file that names itself
	for _, inner := range s.named[name] {
		l := s.measure(inner, known)
		all = load{files: min(all.files+l.files, maxSources+1), bytes: min(all.bytes+l.bytes, maxTotal+1)}
	}
	known[name] = all
	return all
}

// problem returns an error for more than the limits.
func (l load) problem() error {
	switch {
	case l.files > maxSources:
		return &FileError{Problem: fmt.Sprintf("The justfile reads more than %d files for its imports and modules, counting repeated ones", maxSources)}
	case l.bytes > maxTotal:
		return &FileError{Problem: fmt.Sprintf("The justfile and what it imports have more than %d bytes", maxTotal)}
	}
	return nil
}

// Files returns all files on which the justfile depends, including those that would be used if they
// existed.
func (s *Sources) Files() *cachedfile.Group { return s.files }

// depend records that the justfile depends on a file, which may not exist.
func (s *Sources) depend(name string) {
	_, _ = s.files.Add(filepath.Join(s.dir, filepath.FromSlash(name)))
}

// add reads one file and returns the names of the files that it names.
func (s *Sources) add(name string) (found []string, err error) {
	s.depend(name)
	data, err := s.root.Read(name, maxSource)
	if err != nil {
		return nil, &FileError{Problem: fmt.Sprintf("%s cannot be used: %s", shown(name), reason(err))}
	}
	s.total += len(data)
	switch {
	case len(s.texts) >= maxSources:
		return nil, &FileError{Problem: fmt.Sprintf("The justfile has more than %d imports and modules", maxSources)}
	case s.total > maxTotal:
		return nil, &FileError{Problem: fmt.Sprintf("The justfile and what it imports have more than %d bytes", maxTotal)}
	case !utf8.Valid(data):
		return nil, &FileError{Problem: shown(name) + " cannot be used: it is not UTF-8 text"}
	}
	text := string(data)
	list, problem := statements(text)
	if problem != "" {
		return nil, &FileError{Problem: "The justfile cannot be used: " + shown(name) + ", " + problem}
	}
	for _, st := range list {
		if st.problem != "" {
			return nil, st.refused(name, st.problem)
		}
		inner, err := s.resolve(name, st)
		if err != nil {
			return nil, err
		}
		found = append(found, inner...)
	}
	s.texts[name] = text
	return found, nil
}

// resolve returns the names of the existing files that a statement can mean.
func (s *Sources) resolve(from string, st statement) ([]string, error) {
	var names []string
	named := st.path
	if st.module == "" || st.path != "" {
		name, err := s.name(from, named)
		if err != nil {
			return nil, st.refused(from, "it points outside the project: move the file into the project, or copy what you need of it")
		}
		s.depend(name)
		if s.regular(name) || st.module == "" {
			names = append(names, name)
		}
		if len(names) > 0 {
			return s.existing(from, st, names)
		}
		names = s.candidates(name)
	} else {
		dir := path.Dir(from)
		names = append([]string{path.Join(dir, st.module+".just")}, s.candidates(path.Join(dir, st.module))...)
	}
	return s.existing(from, st, names)
}

// candidates returns the possible names of the justfile of a module in a directory.
func (s *Sources) candidates(dir string) []string {
	names := distinct.Of(path.Join(dir, "mod.just"), path.Join(dir, "justfile"), path.Join(dir, ".justfile"))
	entries, err := s.root.ReadDir(dir)
	if err != nil {
		return names.Values()
	}
	for _, e := range entries {
		if IsJustfile(e.Name()) {
			names.Add(path.Join(dir, e.Name()))
		}
	}
	return names.Values()
}

// existing omits the names of files that do not exist.
func (s *Sources) existing(from string, st statement, names []string) ([]string, error) {
	var found []string
	for _, name := range names {
		s.depend(name)
		info, err := s.root.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && info.IsDir(): // which just does not find either
		case errors.Is(err, rooted.ErrOutside):
			return nil, st.refused(from, "it is a symbolic link that points outside the project")
		case err != nil:
			return nil, st.refused(from, reason(err))
		default:
			found = append(found, name)
		}
	}
	return found, nil
}

func (s *Sources) regular(name string) bool {
	info, err := s.root.Stat(name)
	return err == nil && !info.IsDir()
}

// name returns the root's name for a path in a file, by the rules of just.
func (s *Sources) name(from, named string) (string, error) {
	if rest, ok := strings.CutPrefix(named, "~/"); ok {
		if !filepath.IsAbs(s.home) {
			return "", rooted.ErrOutside
		}
		named = filepath.Join(s.home, rest)
	}
	if filepath.IsAbs(named) {
		return s.root.Name(named)
	}
	if runtime.GOOS == "windows" {
		named = filepath.ToSlash(named)
	}
	return s.root.Name(path.Join(path.Dir(from), named))
}

// Inside refuses a path in a file that points outside the root, directly or through a link.
func (s *Sources) Inside(file, named string) error {
	name, err := s.name(file, named)
	if err != nil {
		return err
	}
	if slashed := filepath.ToSlash(named); slices.Contains(strings.Split(slashed, "/"), "..") {
		if filepath.IsAbs(named) || strings.HasPrefix(named, "~") {
			return rooted.ErrOutside
		}
		name = path.Dir(file) + "/" + slashed // the system follows a link before "..", and this name does not
	}
	if _, err := s.root.Stat(name); errors.Is(err, rooted.ErrOutside) {
		return err
	}
	return nil
}

// In returns the sources for the same root, opened again.
func (s *Sources) In(root *rooted.Root) *Sources {
	again := *s
	again.root = root
	return &again
}

// inserting matches the beginning of a string into which just inserts the environment.
var inserting = lazyregexp.New(`(?m)(?:^|[^\w-])x['"]`)

// Expand reports whether a source can have a string into which just inserts the environment, such as x"$HOME".
func (s *Sources) Expand() bool {
	for _, text := range s.texts {
		if inserting.Get().MatchString(text) {
			return true
		}
	}
	return false
}

// Line reports whether a file is one of the sources, or outside the root, and whether it has a text in a line, as
// just quotes it. just names the file from the root.
func (s *Sources) Line(file, number, text string) (known, same bool) {
	if filepath.IsAbs(file) {
		inside, err := filepath.Rel(s.dir, file)
		if err != nil {
			return true, false
		}
		file = inside
	}
	if !filepath.IsLocal(file) {
		return true, false
	}
	source, known := s.texts[path.Clean(filepath.ToSlash(file))]
	n, err := strconv.Atoi(number)
	lines := strings.Split(source, "\n")
	if err != nil || n < 1 || n > len(lines) {
		return known, false
	}
	shown := func(line string) string { return strings.TrimSpace(strings.ReplaceAll(line, "\t", "    ")) } // as just shows a tab
	return known, shown(lines[n-1]) == shown(text)
}

// refused returns the error for a statement.
func (st statement) refused(file, problem string) error {
	what := "import " + Quote(st.path)
	if st.module != "" {
		what = "module " + Quote(st.module)
	}
	return &FileError{Problem: fmt.Sprintf("%s, line %d: the %s cannot be used: %s", shown(file), st.line, what, problem)}
}

// Quote returns a text of a justfile as a message shows it.
func Quote(s string) string { return strconv.Quote(cleantext.Cut(cleantext.Line(s), 100)) }

func shown(name string) string { return foreign.Mention(cleantext.Cut(cleantext.Line(name), 200)) }

// reason returns an error of the root in a sentence.
func reason(err error) string {
	if errors.Is(err, rooted.ErrOutside) {
		return "it is a symbolic link that points outside the project; replace the link with a file"
	}
	return err.Error()
}

// IsJustfile reports whether just accepts the name of a file as that of a justfile.
func IsJustfile(name string) bool {
	return strings.EqualFold(name, "justfile") || strings.EqualFold(name, ".justfile")
}

// Copy writes the sources into a directory.
func (s *Sources) Copy(to string) error {
	for name, text := range s.texts {
		file := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return fmt.Errorf("copy the justfile: %w", err)
		}
		if err := os.WriteFile(file, []byte(s.redirected(to, name, text)), 0o600); err != nil {
			return fmt.Errorf("copy the justfile: %w", err)
		}
	}
	return nil
}

// redirected returns a text in which absolute paths, and paths in the home directory, lead into a
// directory of copies. Other paths already do.
func (s *Sources) redirected(to, name, text string) string {
	list, _ := statements(text) // add has refused the others
	slices.SortFunc(list, func(a, b statement) int { return cmp.Compare(b.from, a.from) })
	for _, st := range list {
		if !filepath.IsAbs(st.path) && !strings.HasPrefix(st.path, "~/") {
			continue
		}
		if inner, err := s.name(name, st.path); err == nil {
			text = text[:st.from] + "'" + filepath.Join(to, filepath.FromSlash(inner)) + "'" + text[st.to:]
		}
	}
	return text
}
