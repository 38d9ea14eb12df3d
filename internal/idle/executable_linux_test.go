package idle

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Only mappings of the executable that equal the file are removed. A linker has changed others, such
// as the second one below, and removing them would lose the changes.
func TestClean(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-00402000 r-xp 00000000 fd:00 12 /opt/a program
Rss:                   8 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
00500000-00502000 r--p 00100000 fd:00 12 /opt/a program
Rss:                   8 kB
Anonymous:             4 kB
00600000-00602000 rw-p 00200000 fd:00 12 /opt/a program
Anonymous:             0 kB
00700000-00702000 r--p 00300000 fd:00 12 /opt/a program
Anonymous:             0 kB
7f0000000000-7f0000002000 r-xp 00000000 fd:00 13 /lib/libc.so.6
Anonymous:             0 kB
7f1000000000-7f1000002000 rw-p 00000000 00:00 0
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0x402000}, {0x700000, 0x702000}}
	if got := clean([]byte(smaps), "/opt/a program"); !slices.Equal(got, want) {
		t.Errorf("clean = %x, want %x", got, want)
	}
	if got := clean([]byte("x\n\n00400000 r-xp\nzz-yy r-xp 0 0 0 /p\nAnonymous:\nAnonymous: 0 kB\n"), "/p"); len(got) > 0 {
		t.Errorf("clean of nonsense = %x", got)
	}
}

// A release removes the executable from the memory of the process, which continues.
func TestRelease(t *testing.T) { //nolint:paralleltest // it measures the process
	const least = 512 // KiB, of the tests' small executable
	before := resident(t)
	Release()
	if after := resident(t); after > before-least {
		t.Errorf("%d KiB of files are resident, and were %d", after, before)
	}
}

// resident returns how many KiB of files are in the memory of this process.
func resident(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("RssFile:"))
	number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	n, err := strconv.Atoi(string(number))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
