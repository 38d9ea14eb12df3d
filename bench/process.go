package main

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

// server is a program that speaks MCP on stdio, started as a client would.
type server struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
	// firstAnswer is the time from before the start of the process to the
	// answer of initialize.
	firstAnswer time.Duration
}

// spawn starts a program and shakes hands.
func spawn(ctx context.Context, dir string, argv ...string) (*server, error) {
	start := time.Now()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
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
	s := &server{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	_, err = s.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`)
	if err != nil {
		return nil, fmt.Errorf("initialize %s: %w", argv[0], err)
	}
	s.firstAnswer = time.Since(start)
	_, err = io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return s, err
}

// request sends one request and waits for its answer, the whole line.
func (s *server) request(method, params string) ([]byte, error) {
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

// call times one tool call. A tool error is an error.
func (s *server) call(tool, args string) (time.Duration, []byte, error) {
	params := fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args)
	start := time.Now()
	line, err := s.request("tools/call", params)
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

// memory is the resident memory in MiB, 0 where the system does not tell.
func (s *server) memory() float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				return 0
			}
			return kb / 1024
		}
	}
	return 0
}

// stop ends the server as a client does: by closing its input.
func (s *server) stop() error {
	if err := s.in.Close(); err != nil {
		return err
	}
	return s.cmd.Wait()
}
