package itemdir

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/wholefile"
)

// Thresholds of the cache.
const (
	// worthKeeping is the minimum number of files in a directory with a cache.
	worthKeeping = 500
	// rewriteShare is the part of the files, one in this number, that must have been read from the
	// directory before the cache is written again.
	rewriteShare = 20
	// keepFor is the lifetime of the cache of an unused directory.
	keepFor = 60 * 24 * time.Hour
	// maxCache is the size of the largest cache.
	maxCache = 256 << 20
	// maxRecord is the maximum size of a record: both texts of a file, and as much again for
	// letters that grow when they are folded.
	maxRecord = 4 * ticfile.MaxSize
)

// cacheFormat begins a cache. It identifies the interpretation of a file. Increase the number when
// the parser, the folding of texts, or [item.Entry.Append] changes.
func cacheFormat() string { return "copse items 2 " + runtime.Version() + "\n" }

// castagnoli returns a table that the standard library creates once, which takes 0.1 ms.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// errDamaged is the error of a cache that ends too early or whose checksum is wrong.
var errDamaged = errors.New("damaged cache")

// CacheFile returns the path of the cache of the directory at a path, in the directory of
// caches; "" if there is no directory of caches.
func CacheFile(caches, of string) string {
	if caches == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(of))
	return filepath.Join(caches, hex.EncodeToString(sum[:16]))
}

// cacheReader reads a cache from beginning to end.
//
// A cache contains the parsed files of a directory, each with the stamp of its file. A record is
// valid only while the file has exactly that stamp, which includes the inode and the time of the
// last change. A cache can thus be old or incomplete, but not wrong.
type cacheReader struct {
	file *os.File
	in   *bufio.Reader
	next *cached // the record that was read last and not handed out
}

// cached is a record of a cache.
type cached struct {
	id    item.ID
	from  cachedfile.Signature
	entry string // as written by [item.Entry.Append]
}

// openCache returns the reader of a cache; nil if there is none, or none of this format.
func openCache(path string) *cacheReader {
	if path == "" {
		return nil
	}
	file, err := regular.Open(path, maxCache)
	if err != nil {
		return nil
	}
	r := &cacheReader{file: file, in: bufio.NewReaderSize(file, 256<<10)}
	format := make([]byte, len(cacheFormat()))
	if _, err := io.ReadFull(r.in, format); err != nil || string(format) != cacheFormat() {
		r.close()
		return nil
	}
	return r
}

func (r *cacheReader) close() {
	if r != nil {
		_ = r.file.Close()
	}
}

// through returns the remaining records up to a number, by the names of their files.
func (r *cacheReader) through(last item.ID) map[string]*cached {
	if r == nil {
		return nil
	}
	found := map[string]*cached{}
	for {
		if r.next == nil {
			record, err := r.read()
			if err != nil {
				return found // what the rest may hold is read from the files
			}
			r.next = record
		}
		if r.next.id > last {
			return found
		}
		found[FileName(r.next.id)] = r.next
		r.next = nil
	}
}

// read reads the next record.
func (r *cacheReader) read() (*cached, error) {
	size, err := binary.ReadUvarint(r.in)
	if err != nil {
		return nil, err
	}
	if size > maxRecord {
		return nil, errDamaged
	}
	content := make([]byte, crc32.Size+size)
	if _, err := io.ReadFull(r.in, content); err != nil {
		return nil, err
	}
	sum, content := binary.LittleEndian.Uint32(content), content[crc32.Size:]
	if crc32.Checksum(content, castagnoli()) != sum {
		return nil, errDamaged
	}
	var fields [6]int64 // ID, size, modified, device, inode, changed
	for i := range fields {
		n, length := binary.Varint(content)
		if length <= 0 {
			return nil, errDamaged
		}
		fields[i], content = n, content[length:]
	}
	return &cached{
		id: item.ID(fields[0]),
		from: cachedfile.Signature{Size: fields[1], Modified: fields[2], Identity: cachedfile.Identity{
			Device: uint64(fields[3]), Inode: uint64(fields[4]), Changed: fields[5],
		}},
		entry: string(content),
	}, nil
}

// file returns the file in the record, if the file still has this stamp; nil if it can have
// changed.
func (c *cached) file(now cachedfile.Signature) *file {
	if c == nil || c.from != now {
		return nil
	}
	entry, err := item.DecodeEntry(c.entry)
	if err != nil {
		return nil
	}
	return &file{id: c.id, inner: c.id, whole: true, entry: entry, stamp: now, settled: true, kept: true, bytes: now.Size}
}

// keep writes the cache if it would save much the next time. A cache that cannot be written is
// missing.
func (x *Index) keep(path string) {
	fresh, worth := 0, 0
	for _, f := range x.files {
		if f.worthKeeping() {
			worth++
			if !f.kept {
				fresh++
			}
		}
	}
	if path == "" || worth < worthKeeping || fresh <= worth/rewriteShare {
		return
	}
	dir := filepath.Dir(path)
	if ownership.MakeAll(dir) != nil {
		return
	}
	removeOld(dir)
	// Without the cache, the next process reads the files.
	_ = wholefile.Replace(path, "new-*", func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 256<<10)
		return errors.Join(x.writeCache(out), out.Flush())
	})
}

// worthKeeping reports whether a cache can contain a file: it has no problems, and its stamp
// changes with its content.
func (f *file) worthKeeping() bool {
	return f.whole && f.settled && f.stamp.Changed != 0 && f.inner == f.id && len(f.problems) == 0
}

// writeCache writes the records in the order of their numbers.
func (x *Index) writeCache(out *bufio.Writer) error {
	if _, err := out.WriteString(cacheFormat()); err != nil {
		return err
	}
	var record, content []byte
	for id, entry := range x.snapshot.Entries() {
		f := x.files[FileName(id)]
		if f == nil || !f.worthKeeping() {
			continue
		}
		content = content[:0]
		for _, n := range []int64{int64(id), f.stamp.Size, f.stamp.Modified, int64(f.stamp.Device), int64(f.stamp.Inode), f.stamp.Changed} {
			content = binary.AppendVarint(content, n)
		}
		content = entry.Append(content)
		record = binary.AppendUvarint(record[:0], uint64(len(content)))
		record = binary.LittleEndian.AppendUint32(record, crc32.Checksum(content, castagnoli()))
		if _, err := out.Write(append(record, content...)); err != nil {
			return err
		}
	}
	return nil
}

// removeOld removes the caches of directories that nobody has read for a long time, and leftovers
// of killed processes.
func removeOld(dir string) {
	listed, err := regular.ReadDir(dir)
	if err != nil {
		return
	}
	for _, d := range listed {
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > keepFor {
			_ = os.Remove(filepath.Join(dir, d.Name()))
		}
	}
}
