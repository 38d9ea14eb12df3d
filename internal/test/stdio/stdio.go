// Package stdio talks to an MCP server as a client does that starts it: for the benchmark and
// for tests from outside. It knows the protocol of 2025-11-25, and as little of it as it can,
// so that it costs little beside the server.
package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Server is a program that speaks MCP on stdio, started as a client would.
type Server struct {
	// Process is the program itself.
	Process *os.Process

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
	// FirstAnswer is the time from before the start of the process to the
	// answer of initialize.
	FirstAnswer time.Duration
}

// Spawn starts a program and shakes hands.
func Spawn(ctx context.Context, dir string, argv ...string) (*Server, error) {
	return SpawnWith(ctx, dir, nil, argv...)
}

// SpawnWith returns Spawn with more in the environment.
func SpawnWith(ctx context.Context, dir string, env []string, argv ...string) (*Server, error) {
	start := time.Now()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	s := &Server{Process: cmd.Process, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	_, err = s.Request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	if err != nil {
		return nil, fmt.Errorf("initialize %s: %w", argv[0], err)
	}
	s.FirstAnswer = time.Since(start)
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return s, err
}

// Request sends one request and waits for its answer, the whole line.
func (s *Server) Request(method, params string) ([]byte, error) {
	s.id++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.id, method, params); err != nil {
		return nil, err
	}
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("read answer to %s: %w", method, err)
		}
		// Ours have the id in front; others where they like.
		if bytes.Contains(line[:min(len(line), 64)], fmt.Appendf(nil, `"id":%d,`, s.id)) || answers(line, s.id) {
			if bytes.Contains(line[:min(len(line), 80)], []byte(`"error"`)) {
				return nil, fmt.Errorf("%s: %s", method, line)
			}
			return line, nil
		}
	}
}

// answers reports whether a line is the answer to a request.
func answers(line []byte, id int) bool {
	var a struct {
		ID     any
		Method string
	}
	return json.Unmarshal(line, &a) == nil && a.Method == "" && fmt.Sprint(a.ID) == strconv.Itoa(id)
}

// Notified waits for a notification. No request may be under way.
func (s *Server) Notified(method string) error {
	for {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("wait for %s: %w", method, err)
		}
		if bytes.Contains(line, fmt.Appendf(nil, `"method":%q`, method)) {
			return nil
		}
	}
}

// Call times one tool call. A tool error is an error.
func (s *Server) Call(tool, args string) (time.Duration, []byte, error) {
	params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args)
	start := time.Now()
	line, err := s.Request("tools/call", params)
	took := time.Since(start)
	if err != nil {
		return 0, nil, err
	}
	var answer struct {
		Result struct{ IsError bool }
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return 0, nil, err
	}
	if answer.Result.IsError {
		return 0, nil, fmt.Errorf("%s: %s", tool, line)
	}
	return took, line, nil
}

// Pipeline sends n calls at once, as a client with many agents does, and returns how long it
// takes until all are answered, and how many of the answers are errors of a tool.
func (s *Server) Pipeline(n int, call func(i int) (tool, args string)) (took time.Duration, failed int, err error) {
	var all bytes.Buffer
	first := s.id + 1
	for i := range n {
		s.id++
		tool, args := call(i)
		fmt.Fprintf(&all, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", s.id, tool, args)
	}
	start := time.Now()
	written := make(chan error, 1)
	go func() {
		_, err := s.in.Write(all.Bytes())
		written <- err
	}()
	for left := n; left > 0; {
		line, err := s.out.ReadBytes('\n')
		if err != nil {
			return 0, failed, fmt.Errorf("read answers: %w", err)
		}
		// Decoding every answer would take as long as the server does. One that has neither
		// word outside a string is a success.
		if bytes.Contains(line, []byte(`"result":`)) && !bytes.Contains(line, []byte(`"isError":`)) && !bytes.Contains(line, []byte(`"method":`)) {
			left--
			continue
		}
		var a struct {
			ID     int
			Method string
			Error  json.RawMessage
			Result struct{ IsError bool }
		}
		if json.Unmarshal(line, &a) != nil || a.Method != "" || a.ID < first {
			continue
		}
		if a.Error != nil {
			return 0, failed, fmt.Errorf("a call was refused: %s", line)
		}
		if a.Result.IsError {
			failed++
		}
		left--
	}
	return time.Since(start), failed, <-written
}

// Memory returns the resident memory of the server and of what it has started, in MiB; 0 where the
// system does not tell.
func (s *Server) Memory() float64 { return MemoryOf(s.cmd.Process.Pid) }

// MemoryOf returns the resident memory of a process and of what it has started, in MiB.
func MemoryOf(pid int) float64 { return memoryOf(pid, "VmRSS:") }

// FilesOf returns how many files and sockets a process has open; 0 where the system does not tell.
func FilesOf(pid int) int {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return 0
	}
	return len(entries)
}

// Peak returns the most that the memory was.
func (s *Server) Peak() float64 { return PeakOf(s.cmd.Process.Pid) }

// PeakOf returns the most that the memory of a process was, and of what it has started and is still
// there, in MiB.
func PeakOf(pid int) float64 { return memoryOf(pid, "VmHWM:") }

func memoryOf(pid int, what string) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	total := 0.0
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, what); ok {
			if kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
				total = kb / 1024
			}
		}
	}
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // a process that is gone has no children
	for _, task := range tasks {
		children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		if err != nil {
			continue
		}
		for child := range strings.FieldsSeq(string(children)) {
			if id, err := strconv.Atoi(child); err == nil {
				total += memoryOf(id, what)
			}
		}
	}
	return total
}

// Stop ends the server as a client does: by closing its input.
func (s *Server) Stop() error {
	if err := s.in.Close(); err != nil {
		return err
	}
	return s.cmd.Wait()
}

// End stops a server of another author, which may not end by itself.
func (s *Server) End() {
	_ = s.in.Close()
	done := make(chan struct{})
	go func() {
		_ = s.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Second):
		_ = s.cmd.Process.Kill()
		<-done
	}
}
