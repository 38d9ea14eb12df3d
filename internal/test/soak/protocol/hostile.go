package protocol

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/test/soak/rig"
)

// meta is what a request of 2026-07-28 carries.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// HostileInput sends what no client should, in both eras, on standard input and over HTTP. The
// server must answer an honest question after each batch of it.
func HostileInput(r *rig.Rig) ([]rig.Result, error) {
	dir, err := r.Repository("hostile")
	if err != nil {
		return nil, err
	}
	var results []rig.Result
	begin, span := time.Now(), time.Until(r.Until)
	for i, era := range []string{"2025-11-25", "2026-07-28"} {
		until := begin.Add(span * time.Duration(i+1) / 3)
		res, err := hostileLines(r, dir, era, until)
		if err != nil {
			return results, err
		}
		results = append(results, res)
	}
	res, err := hostileBodies(r, dir)
	return append(results, res), err
}

func hostileLines(r *rig.Rig, dir, era string, until time.Time) (rig.Result, error) {
	res := rig.Result{What: "malformed, huge, deep, and torn messages on standard input, " + era}
	g := &generator{r.Random, era == "2026-07-28"}
	probe := 0
	for res.Tried < 500 || time.Now().Before(until) && r.Context.Err() == nil {
		c, err := converse(r, dir)
		if err != nil {
			return res, err
		}
		if !g.modern {
			c.send(hello)
		}
		for range 20 {
			var batch bytes.Buffer
			n := 1 + r.Random.IntN(30)
			for range n {
				batch.Write(g.message())
				batch.WriteByte('\n')
			}
			c.sendTorn(batch.Bytes(), r.Random)
			probe++
			res.Tried += n
			if err := c.answers(probe, g.modern); err != nil {
				res.Lost += n
				res.Note = err.Error()
				break
			}
			res.Survived += n
		}
		if err := c.close(); err != nil && res.Lost == 0 {
			res.Lost++
			res.Note = err.Error()
		}
	}
	return res, nil
}

// conversation is a server on standard input and output.
type conversation struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte
	errs  *bytes.Buffer
}

func converse(r *rig.Rig, dir string) (*conversation, error) {
	c := &conversation{cmd: exec.CommandContext(r.Context, r.Copse(), "mcp", "serve"), lines: make(chan []byte, 1000), errs: &bytes.Buffer{}}
	c.cmd.Dir, c.cmd.Stderr = dir, c.errs
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.lines)
		buf := make([]byte, 1<<16)
		var line []byte
		for {
			n, err := out.Read(buf)
			for rest := buf[:n]; len(rest) > 0; {
				i := bytes.IndexByte(rest, '\n')
				if i < 0 {
					line = append(line, rest...)
					break
				}
				c.lines <- append(line, rest[:i]...)
				line, rest = nil, rest[i+1:]
			}
			if err != nil {
				return
			}
		}
	}()
	return c, nil
}

func (c *conversation) send(text string) { _, _ = io.WriteString(c.in, text) } // a dead server shows in answers

// sendTorn sends data in pieces.
func (c *conversation) sendTorn(data []byte, random *rand.Rand) {
	for len(data) > 0 {
		n := min(len(data), 1+random.IntN(1<<uint(2+random.IntN(18))))
		if _, err := c.in.Write(data[:n]); err != nil {
			return
		}
		data = data[n:]
	}
}

// answers asks an honest question and waits for the answer.
func (c *conversation) answers(n int, modern bool) error {
	params := `"name":"show_item","arguments":{"id":1}`
	if modern {
		params += "," + meta
	}
	id := fmt.Sprintf(`"id":"probe-%d"`, n)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0",%s,"method":"tools/call","params":{%s}}`, id, params) + "\n")
	limit := time.After(20 * time.Second)
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				return fmt.Errorf("the server has ended: %s", rig.Tail(c.errs.String()))
			}
			if bytes.Contains(line, []byte(id)) {
				if !bytes.Contains(line, []byte("First")) {
					return fmt.Errorf("a wrong answer: %.300s", line)
				}
				return nil
			}
		case <-limit:
			return errors.New("no answer within 20 s")
		}
	}
}

func (c *conversation) close() error {
	_ = c.in.Close()
	done := make(chan error, 1)
	go func() {
		for range c.lines {
			continue // what is left does not matter
		}
		done <- c.cmd.Wait()
	}()
	select {
	case err := <-done:
		if err != nil && strings.Contains(c.errs.String(), "panic") {
			return fmt.Errorf("%w: %s", err, rig.Tail(c.errs.String()))
		}
		return nil
	case <-time.After(5 * time.Second):
		_ = c.cmd.Process.Kill()
		return errors.New("the server did not end with its input")
	}
}

// hostileBodies sends the same over HTTP.
func hostileBodies(r *rig.Rig, dir string) (rig.Result, error) {
	res := rig.Result{What: "malformed, huge, and deep bodies over HTTP, both eras"}
	home := filepath.Join(r.Dir, "h")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return res, err
	}
	cmd := exec.CommandContext(r.Context, r.Copse(), "up", "--port", "24000", "--no-token")
	cmd.Dir = dir
	env := []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + home, "XDG_CONFIG_HOME=" + home, "XDG_STATE_HOME=" + home}
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		return res, err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	base := ""
	for deadline := time.Now().Add(10 * time.Second); base == "" && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if out, err := r.Command(dir, env, "status"); err == nil {
			base, _, _ = strings.Cut(out, "\t")
		}
	}
	if base == "" {
		return res, errors.New("copse up does not answer")
	}
	for res.Tried < 200 || r.GoOn() {
		g := &generator{r.Random, r.Random.IntN(2) == 0}
		res.Tried++
		status, err := post(r.Context, base, g)
		if err == nil && status < 500 {
			status, err = get(r.Context, strings.TrimSuffix(base, "/mcp")+"/healthz")
		}
		if err != nil || status >= 500 {
			res.Lost++
			res.Note = fmt.Sprintf("status %d, %v", status, err)
			continue
		}
		res.Survived++
		time.Sleep(20 * time.Millisecond) // below the limit of a client
	}
	return res, nil
}

func post(ctx context.Context, url string, g *generator) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(g.message()))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if g.modern {
		req.Header.Set("MCP-Protocol-Version", "2026-07-28")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<20) // a stream may stay open
	return resp.StatusCode, nil
}

func get(ctx context.Context, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
