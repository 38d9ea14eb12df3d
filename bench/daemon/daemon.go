// Package daemon runs copse up for a measurement, and calls its servers over HTTP.
package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/test/stdio"
)

// Process is a running server.
type Process struct {
	Cmd *exec.Cmd
	Env []string
}

// Start starts a program in a directory, with further environment variables.
func Start(ctx context.Context, dir string, env []string, argv ...string) (*Process, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	return &Process{cmd, cmd.Env}, cmd.Start()
}

// Stop interrupts the process and waits for its end.
func (p *Process) Stop() {
	_ = p.Cmd.Process.Signal(os.Interrupt)
	_ = p.Cmd.Wait() // the exit status does not matter here
}

// Memory returns the resident memory in MiB.
func (p *Process) Memory() float64 { return stdio.MemoryOf(p.Cmd.Process.Pid) }

// Files returns how many files and sockets are open.
func (p *Process) Files() int { return stdio.FilesOf(p.Cmd.Process.Pid) }

// ToHere returns a transport that connects to this machine, whatever the name of the host: browsers
// resolve the name of the page, and other programs cannot.
func ToHere() *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		var d net.Dialer
		return d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}}
}

// Endpoint is a server that copse up runs.
type Endpoint struct{ URL, Token string }

// Served waits until copse up serves, and returns its servers.
func (p *Process) Served(ctx context.Context, copse string) ([]Endpoint, error) {
	for range 200 {
		cmd := exec.CommandContext(ctx, copse, "status", "--json")
		cmd.Env = p.Env
		var status struct {
			Worktrees []struct {
				TokenFile string `json:"token_file"`
				MCP       struct{ Port int }
			}
		}
		if out, err := cmd.Output(); err == nil && json.Unmarshal(out, &status) == nil && len(status.Worktrees) > 0 {
			var found []Endpoint
			for _, w := range status.Worktrees {
				token, err := os.ReadFile(w.TokenFile)
				if err != nil {
					return nil, err
				}
				found = append(found, Endpoint{fmt.Sprintf("http://localhost:%d/mcp", w.MCP.Port), strings.TrimSpace(string(token))})
			}
			return found, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.New("copse up does not serve")
}

// FreePorts returns two, with some after each.
func FreePorts() ([2]int, error) {
	var ports [2]int
	for i := range ports {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return ports, err
		}
		ports[i] = l.Addr().(*net.TCPAddr).Port
		defer l.Close()
	}
	return ports, nil
}
