package idle

import (
	"bytes"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// unmapExecutable removes the pages of the executable from the memory of this process. They remain in
// the system's cache, where an unused page is the first to go when memory is short; a mapped one is
// among the last.
func unmapExecutable() {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range clean(mappings, name) {
		// The pages are those of the file, so losing them loses nothing. An error leaves them mapped.
		_ = unix.Madvise(unsafe.Slice((*byte)(pointer(m.from)), m.to-m.from), unix.MADV_DONTNEED)
	}
}

// pointer returns a pointer to memory that the runtime does not manage.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// mapping is a range of addresses.
type mapping struct{ from, to uintptr }

// clean returns the mappings of a file that equal the file: that nobody can write to, and none of
// whose pages the process has changed. The system's linker changes pages and then write-protects
// them, so the protection alone does not suffice.
//
// smaps is in the form that proc(5) describes: for each mapping, a line with its addresses, its
// protection, and the name of its file, and then lines with counters.
func clean(smaps []byte, name string) []mapping {
	var all []mapping
	var current *mapping
	for line := range bytes.Lines(smaps) {
		fields := bytes.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if bytes.HasSuffix(fields[0], []byte(":")) { // a counter
			if current != nil && string(fields[0]) == "Anonymous:" && len(fields) > 1 && string(fields[1]) == "0" {
				all = append(all, *current)
				current = nil
			}
			continue
		}
		current = nil
		path := bytes.TrimSuffix(line, []byte("\n"))
		if len(fields) < 6 || fields[1][1] == 'w' || !bytes.HasSuffix(path, []byte(" "+name)) {
			continue
		}
		from, to, _ := bytes.Cut(fields[0], []byte("-"))
		begin, err := strconv.ParseUint(string(from), 16, 64)
		if err != nil {
			continue
		}
		end, err := strconv.ParseUint(string(to), 16, 64)
		if err != nil || end <= begin {
			continue
		}
		current = &mapping{uintptr(begin), uintptr(end)}
	}
	return all
}
