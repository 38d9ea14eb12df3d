package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/porcelain"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Worktree is a worktree with uncommitted changes.
type Worktree struct {
	Root string
	// Head is the checked-out commit; empty if there is none yet.
	Head  string
	Edits git.Edits
}

const (
	// maxFile is the maximum size of a file whose content is compared, and maxFiles the total of
	// all files. Other files count as a whole: two that differ are in conflict.
	maxFile  = 8 << 20
	maxFiles = 128 << 20
)

// Snapshots returns a commit for each worktree: its files on top of its head. The same files on the
// same head give the same commit. An unreadable file keeps its content from the head.
func (t *Trial) Snapshots(ctx context.Context, worktrees []Worktree) ([]string, error) {
	if len(worktrees) == 0 {
		return nil, nil
	}
	s := stream{left: maxFiles}
	for i, w := range worktrees {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.commit(t.next+i, w)
	}
	t.next += len(worktrees)
	s.WriteString("done\n")
	out, err := t.git.Feed(ctx, s.Bytes(), "-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--done", "--force")
	if err != nil {
		return nil, fmt.Errorf("read uncommitted changes: %w", err)
	}
	commits := strings.Fields(string(out))
	if len(commits) != len(worktrees) {
		return nil, fmt.Errorf("read uncommitted changes: git made %d commits of %d", len(commits), len(worktrees))
	}
	return commits, nil
}

// stream is the input of "git fast-import".
type stream struct {
	bytes.Buffer
	left int64
}

// commit adds the commit of a worktree.
func (s *stream) commit(n int, w Worktree) {
	fmt.Fprintf(s, "commit refs/heads/w%d\nmark :%d\ncommitter copse <copse@localhost> 0 +0000\ndata 0\n", n, n+1)
	if w.Head != "" {
		fmt.Fprintf(s, "from %s\n", w.Head)
	}
	root, err := rooted.Open(w.Root)
	if err == nil {
		for _, e := range w.Edits.Files {
			s.edit(root, w, e)
		}
		_ = root.Close()
	}
	fmt.Fprintf(s, "\nget-mark :%d\n", n+1)
}

// edit adds the change of one file.
func (s *stream) edit(root *rooted.Root, w Worktree, e porcelain.Edit) {
	switch {
	case e.Mode == "" && !e.Untracked:
		fmt.Fprintf(s, "D %s\n", quote(e.Path))
	case e.Mode == porcelain.ModeSubmodule:
		if strings.Trim(e.Commit, "0") != "" {
			fmt.Fprintf(s, "M %s %s %s\n", porcelain.ModeSubmodule, e.Commit, quote(e.Path))
		}
	default:
		mode, data, ok := s.read(root, w, e)
		if !ok {
			return
		}
		convert := w.Edits.CRLF && e.LineEnds == "" || e.LineEnds == porcelain.Converted
		if convert && mode != porcelain.ModeLink && bytes.IndexByte(data, 0) < 0 {
			data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
		}
		fmt.Fprintf(s, "M %s inline %s\ndata %d\n", mode, quote(e.Path), len(data))
		s.Write(data)
		s.WriteByte('\n')
	}
}

// read returns the worktree's content at a path, false if it is not a file that git supports.
func (s *stream) read(root *rooted.Root, w Worktree, e porcelain.Edit) (mode string, data []byte, ok bool) {
	info, err := root.Lstat(e.Path)
	if err != nil {
		return "", nil, false
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		// The text of a link is data, wherever it leads.
		target, err := readlink(w.Root, e.Path)
		return porcelain.ModeLink, []byte(target), err == nil
	case !info.Mode().IsRegular():
		return "", nil, false
	}
	if mode = e.Mode; mode != porcelain.ModeFile && mode != porcelain.ModeExecutable {
		mode = porcelain.ModeFile
		if info.Mode()&0o100 != 0 {
			mode = porcelain.ModeExecutable
		}
	}
	data, err = root.Read(e.Path, min(maxFile, s.left))
	if _, large := errors.AsType[*rooted.TooLargeError](err); large {
		return mode, fmt.Appendf(nil, "%d bytes, changed at %d", info.Size(), info.ModTime().UnixNano()), true
	}
	s.left -= int64(len(data))
	return mode, data, err == nil
}

// readlink returns the text of a link below a root.
func readlink(root, name string) (string, error) {
	dir, err := regular.OpenRoot(root)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	target, err := dir.Readlink(filepath.FromSlash(name))
	return filepath.ToSlash(target), err
}

// quote writes a path in git's form.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
