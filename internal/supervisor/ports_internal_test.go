package supervisor

import (
	"net"
	"path/filepath"
	"testing"
)

// A worktree that moves does not get its old port, although nobody holds it now: who held it knows its
// clients, and can take it again.
func TestMovesToAnotherPort(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	first := free.Addr().(*net.TCPAddr).Port
	if first > lastPort-100 {
		t.Skipf("port %d has few ports above it", first)
	}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	p := NewPorts(filepath.Join(t.TempDir(), "ports.json"), first)
	listen := func(move bool) int {
		t.Helper()
		listeners, port, err := p.listen(t.Context(), []string{"127.0.0.1"}, "key", nil, move)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range listeners {
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return port
	}
	old := listen(false)
	if again := listen(false); again != old {
		t.Errorf("without a move, port %d became %d", old, again)
	}
	if moved := listen(true); moved == old {
		t.Errorf("it moved from port %d to itself", old)
	}
}
