package lockedstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/rooted"
)

// concurrentSyncs is the number of files written to disk at the same time. The file system writes
// them together, so this costs little more than one.
const concurrentSyncs = 8

// Tx is a change in progress. It is for one goroutine.
type Tx struct {
	root      *os.Root
	temporary string // temporary files have this name and a number
	unsynced  map[string]bool
	checked   map[string]bool // directories that lead into no git directory
	disk      Disk
}

// File is a file to write. Its name is slash-separated, relative to the directory.
type File struct {
	Name string
	Data []byte
	// Private makes the file, even an existing one, readable only by its user.
	Private bool
	// Secret keeps a file that root writes root's: it has a token of root's server.
	Secret bool
	// Common lets those who can change its directory read and change the file, whatever the umask of the
	// process: other accounts must know what it says.
	Common bool
}

// Root returns the directory, for reading.
func (tx *Tx) Root() *os.Root { return tx.root }

// check returns rooted.ErrGitDirectory if a link in the names leads into a git directory.
func (tx *Tx) check(names ...string) error {
	for _, name := range names {
		dir := path.Dir(name)
		if tx.checked[dir] {
			continue
		}
		if err := rooted.CheckWrite(tx.root, dir); err != nil {
			return err
		}
		tx.checked[dir] = true
	}
	return nil
}

// Write replaces the files, in this order, after the content of all of them is on disk. An existing
// file keeps its permissions. Write does not create directories.
func (tx *Tx) Write(files ...File) error {
	for _, f := range files {
		if err := tx.check(f.Name); err != nil {
			return fmt.Errorf("write %q: %w", f.Name, err)
		}
	}
	staged := make([]string, len(files))
	var group errgroup.Group
	group.SetLimit(concurrentSyncs)
	for i, f := range files {
		staged[i] = tx.temporary + strconv.Itoa(i)
		group.Go(func() error {
			if err := tx.stage(staged[i], f); err != nil {
				return fmt.Errorf("write %q: %w", f.Name, rooted.WithoutPath(err))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		tx.drop(staged)
		return err
	}
	for i, f := range files {
		if err := tx.disk.Rename(tx.root, staged[i], f.Name); err != nil {
			tx.drop(staged[i:])
			return fmt.Errorf("replace %q: %w", f.Name, rooted.WithoutPath(err))
		}
		tx.unsynced[path.Dir(f.Name)] = true
	}
	return nil
}

// stage writes the content of f, with the permissions of the file that it replaces, and waits until
// it is on disk.
func (tx *Tx) stage(name string, f File) error {
	old, err := tx.root.Lstat(f.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return errors.New("there is something that is not a regular file")
	}
	mode := fs.FileMode(0o666)
	if f.Private {
		mode = 0o600
	}
	file, err := tx.create(name, mode)
	if err != nil {
		return err
	}
	if f.Private {
		err = tx.disk.Private(file)
	}
	if err == nil {
		_, err = file.Write(f.Data)
	}
	if !f.Secret {
		from := old
		if from == nil {
			from, _ = tx.root.Stat(path.Dir(f.Name)) // Write has put its files in it before, or fails
		}
		if from != nil {
			ownership.Give(file, from)
		}
	}
	if err == nil && old != nil && !f.Private {
		err = file.Chmod(old.Mode().Perm())
	}
	if err == nil && f.Common {
		err = openToWriters(tx.root, file, path.Dir(f.Name))
	}
	if err == nil {
		err = tx.disk.Sync(file, f.Name)
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}

// openToWriters adds the permissions of those who can change a directory to a file in it.
func openToWriters(root *os.Root, file *os.File, dir string) error {
	mode, err := lockMode(root, dir)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil || info.Mode().Perm()|mode == info.Mode().Perm() {
		return err
	}
	return file.Chmod(info.Mode().Perm() | mode)
}

// create creates a file, and replaces a leftover of a killed process.
func (tx *Tx) create(name string, mode fs.FileMode) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL // follows no link
	file, err := tx.root.OpenFile(name, flags, mode)
	if !errors.Is(err, fs.ErrExist) {
		return file, err
	}
	if err := tx.root.Remove(name); err != nil {
		return nil, err
	}
	return tx.root.OpenFile(name, flags, mode)
}

// drop removes temporary files. The next change replaces any that remains.
func (tx *Tx) drop(names []string) {
	for _, name := range names {
		_ = tx.root.Remove(name)
	}
}

// Move renames a file. It replaces an existing file with the new name.
func (tx *Tx) Move(from, to string) error {
	if err := tx.check(from, to); err != nil {
		return fmt.Errorf("move %q to %q: %w", from, to, err)
	}
	if err := tx.disk.Rename(tx.root, from, to); err != nil {
		return fmt.Errorf("move %q to %q: %w", from, to, rooted.WithoutPath(err))
	}
	tx.unsynced[path.Dir(from)] = true
	tx.unsynced[path.Dir(to)] = true
	return nil
}

// Remove removes a file.
func (tx *Tx) Remove(name string) error {
	if err := tx.check(name); err != nil {
		return fmt.Errorf("remove %q: %w", name, err)
	}
	if err := tx.disk.Remove(tx.root, name); err != nil {
		return fmt.Errorf("remove %q: %w", name, rooted.WithoutPath(err))
	}
	tx.unsynced[path.Dir(name)] = true
	return nil
}

// RemoveDir removes an empty directory.
func (tx *Tx) RemoveDir(name string) error {
	if err := tx.Remove(name); err != nil {
		return err
	}
	delete(tx.unsynced, name)
	return nil
}

// MakeDir creates a directory unless it exists.
func (tx *Tx) MakeDir(name string) error {
	if err := tx.check(name); err != nil {
		return fmt.Errorf("create directory %q: %w", name, err)
	}
	err := tx.root.Mkdir(name, 0o777)
	if errors.Is(err, fs.ErrExist) {
		info, statErr := tx.root.Stat(name)
		if statErr == nil && info.IsDir() {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("create directory %q: %w", name, rooted.WithoutPath(err))
	}
	ownership.GiveDir(tx.root, name)
	tx.unsynced[path.Dir(name)] = true
	return nil
}

// Flush waits until all previous steps are on disk. Change calls it at its end; call it earlier if
// the order on disk matters.
func (tx *Tx) Flush() error {
	var group errgroup.Group
	for directory := range tx.unsynced {
		group.Go(func() error {
			if err := tx.disk.SyncDir(tx.root, directory); err != nil {
				return fmt.Errorf("sync directory %q to disk: %w", directory, rooted.WithoutPath(err))
			}
			return nil
		})
	}
	clear(tx.unsynced)
	return group.Wait()
}
