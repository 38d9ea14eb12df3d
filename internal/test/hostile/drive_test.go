package hostile

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/test/mcptext"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// attempt is what came of one entry point.
type attempt struct {
	entry string
	// failed is what it said instead of doing its work.
	failed string
	// connects is as in invocation.
	connects bool
}

// visitor tries every entry point in one repository.
type visitor struct {
	r *repo
	// from is the working directory.
	from string
	// recipe is the name that tasks are run by.
	recipe string
	// tried is called with each attempt.
	tried func(attempt)
	// doomed is the item that the next server deletes.
	doomed int
	// halves means that a server is asked for one half of the tools, and the next one for the
	// other half. Then "copse mcp serve" and "copse up" together have tried each tool.
	halves bool
	// second means that the next server is asked for the second half.
	second bool
}

// half returns the tools that the next server is asked for.
func (v *visitor) half() []call {
	if !v.halves {
		return tools
	}
	first, second := tools[:len(tools)/2], tools[len(tools)/2:]
	if v.second = !v.second; v.second {
		return first
	}
	return second
}

// all tries the commands, the servers on standard input, copse up, and a shared store.
func (v *visitor) all(ctx context.Context) error {
	if err := v.batch(ctx, slices.Concat(commands, completions())); err != nil {
		return err
	}
	for _, argv := range [][]string{{"copse", "mcp", "serve"}, {"twig-mcp"}, {"tic", "mcp", "serve"}} {
		if err := v.session(ctx, argv); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
		}
	}
	if err := v.up(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(v.r.root(), ".tic")); err != nil {
		return err
	}
	return v.batch(ctx, sharing)
}

func (v *visitor) fill(text string) string {
	return strings.NewReplacer("{recipe}", v.recipe, "{doomed}", strconv.Itoa(v.doomed)).Replace(text)
}

// batch tries commands in one process.
func (v *visitor) batch(ctx context.Context, lines []invocation) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(v.r.lab.bin, "copse"))
	cmd.Dir, cmd.Env = v.from, append(v.r.environ(), "HOSTILE_BATCH=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	answers := bufio.NewReader(out)
	for _, i := range lines {
		words := strings.Fields(v.fill(i.args))
		if strings.HasPrefix(i.args, "__complete") {
			words = append(words, "")
		}
		request, err := json.Marshal(map[string]any{"program": i.program, "args": words})
		if err != nil {
			return err
		}
		var answer struct {
			Code   int
			Output string
		}
		_, err = fmt.Fprintf(in, "%s\n", request)
		if err == nil {
			var line []byte
			if line, err = answers.ReadBytes('\n'); err == nil {
				err = json.Unmarshal(line, &answer)
			}
		}
		if err != nil {
			return fmt.Errorf("%s gave no answer: %w", i, err)
		}
		a := attempt{entry: i.String(), connects: i.connects}
		if answer.Code != 0 && (i.fails == "" || !strings.Contains(answer.Output, i.fails)) {
			a.failed = answer.Output
		}
		v.tried(a)
	}
	if err := in.Close(); err != nil {
		return err
	}
	return cmd.Wait()
}

// session tries what a server offers on standard input and output.
func (v *visitor) session(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	program := append([]string{filepath.Join(v.r.lab.bin, argv[0])}, argv[1:]...)
	server, err := stdio.SpawnWith(ctx, v.from, v.r.environ(), program...)
	if err != nil {
		return err
	}
	v.tried(attempt{entry: strings.Join(argv, " ") + ": initialize"})
	if err := v.offers(strings.Join(argv, " "), server.Request); err != nil {
		server.End()
		return err
	}
	return server.Stop()
}

// offers asks a server for everything that it lists.
func (v *visitor) offers(server string, request func(method, params string) ([]byte, error)) error {
	var lists struct {
		Result struct {
			Tools   []struct{ Name string }
			Prompts []struct {
				Name      string
				Arguments []struct{ Name string }
			}
			Resources         []struct{ URI string }
			ResourceTemplates []struct{ URITemplate string }
		}
	}
	for _, method := range []string{"tools/list", "prompts/list", "resources/list", "resources/templates/list", "skills/list"} {
		line, err := request(method, `{}`)
		if err != nil {
			continue // the server offers none
		}
		if err := json.Unmarshal(line, &lists); err != nil {
			return err
		}
		v.tried(attempt{entry: server + ": " + method})
	}
	ask := func(what, method, params, fails string) {
		line, err := request(method, params)
		a := attempt{entry: server + ": " + what}
		var answer struct {
			Result struct{ IsError bool }
		}
		switch {
		case err != nil:
			a.failed = err.Error()
		case json.Unmarshal(line, &answer) != nil || answer.Result.IsError && (fails == "" || !strings.Contains(string(line), fails)):
			a.failed = string(line)
		}
		v.tried(a)
	}
	for _, offered := range lists.Result.Tools {
		if !tabled(offered.Name) {
			return fmt.Errorf("no hostile repository is tried with the tool %s: add its arguments to the table tools in surface_test.go", offered.Name)
		}
	}
	v.doomed++
	for _, t := range v.half() {
		if slices.ContainsFunc(lists.Result.Tools, func(o struct{ Name string }) bool { return o.Name == t.name }) {
			ask("tool "+t.name, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, t.name, v.fill(t.args)), t.fails)
		}
	}
	for _, p := range lists.Result.Prompts {
		args := cmp.Or(prompts[p.Name], `{}`)
		ask("prompt "+p.Name, "prompts/get", fmt.Sprintf(`{"name":%q,"arguments":%s}`, p.Name, args), "")
		for _, a := range p.Arguments {
			ask("completion of "+p.Name+" "+a.Name, "completion/complete",
				fmt.Sprintf(`{"ref":{"type":"ref/prompt","name":%q},"argument":{"name":%q,"value":""}}`, p.Name, a.Name), "")
		}
	}
	addresses := make([]string, 0, 8)
	for _, r := range lists.Result.Resources {
		addresses = append(addresses, r.URI)
	}
	for _, template := range lists.Result.ResourceTemplates {
		address, ok := resources[template.URITemplate]
		if !ok {
			return fmt.Errorf("no hostile repository is tried with %s: add an address to the table resources in surface_test.go", template.URITemplate)
		}
		addresses = append(addresses, address)
		for part := range strings.SplitSeq(template.URITemplate, "{") {
			if name, _, ok := strings.Cut(part, "}"); ok {
				ask("completion of "+template.URITemplate+" "+name, "completion/complete",
					fmt.Sprintf(`{"ref":{"type":"ref/resource","uri":%q},"argument":{"name":%q,"value":""}}`, template.URITemplate, name), "")
			}
		}
	}
	for _, address := range addresses {
		ask("resource "+address, "resources/read", fmt.Sprintf(`{"uri":%q}`, address), "")
		if address == "twig://repo/tree" || address == "tic://items" {
			ask("subscription to "+address, "resources/subscribe", fmt.Sprintf(`{"uri":%q}`, address), "")
		}
	}
	return nil
}

func tabled(tool string) bool {
	for _, t := range tools {
		if t.name == tool {
			return true
		}
	}
	return false
}

// up tries copse up: its watchers, its control commands and its routes.
func (v *visitor) up(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(v.r.lab.bin, "copse"), "up", "--no-token", "--port", "22000")
	cmd.Dir, cmd.Env = v.from, v.r.environ()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Kill() // it has ended, unless something went wrong
	}()
	control := func(args ...string) (string, error) {
		c := exec.CommandContext(ctx, filepath.Join(v.r.lab.bin, "copse"), args...)
		c.Dir, c.Env = v.from, v.r.environ()
		out, err := c.Output()
		return string(out), err
	}
	var status struct {
		Worktrees []struct {
			Path string
			MCP  struct {
				Running bool `json:"server_running"`
				Port    int
			}
		}
	}
	// Of a repository that is broken nothing may be served, ever.
	for polls := 0; ; polls++ {
		out, err := control("status", "--json")
		if err == nil && json.Unmarshal([]byte(out), &status) == nil && (len(status.Worktrees) > 0 || polls > 30) {
			break
		}
		select {
		case <-ended:
			// A repository that copse up refuses is one that nothing can wake.
			v.tried(attempt{entry: "copse up", failed: said.String()})
			return nil
		case <-ctx.Done():
			return fmt.Errorf("copse up did not begin to serve: %s", said.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	v.tried(attempt{entry: "copse up"})
	for _, w := range status.Worktrees {
		if !w.MCP.Running {
			continue
		}
		base := fmt.Sprintf("http://127.0.0.1:%d", w.MCP.Port)
		for _, route := range []string{"/healthz", "/mcp", "/sse"} {
			v.get(ctx, base+route, "copse up: GET "+route)
		}
		if err := v.post(ctx, base+"/mcp"); err != nil {
			return fmt.Errorf("copse up: %w", err)
		}
	}
	v.board(ctx, control)
	for _, args := range [][]string{{"status"}, {"close", v.r.path("linked")}, {"open", v.r.path("linked")}, {"down"}} {
		out, err := control(args...)
		a := attempt{entry: "copse " + args[0]}
		if err != nil {
			a.failed = out + err.Error()
		}
		v.tried(a)
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("copse up did not end: %s", said.String())
	}
}

// board follows a link to the page of the worktree and looks at each view. In a repository of
// which nothing is served there is none.
func (v *visitor) board(ctx context.Context, control func(...string) (string, error)) {
	link, err := control("board", "--print-url", "--repo", v.from)
	a := attempt{entry: "copse board"}
	if err != nil {
		a.failed = link + err.Error()
		v.tried(a)
		return
	}
	v.tried(a)
	jar, err := cookiejar.New(nil)
	if err != nil {
		a.failed = err.Error()
		v.tried(a)
		return
	}
	// Browsers resolve the name of the page to this machine; Go does not.
	here := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		var d net.Dialer
		return d.DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
	}}
	defer here.CloseIdleConnections()
	browser := &http.Client{Jar: jar, Timeout: 20 * time.Second, Transport: here}
	link = strings.TrimSpace(link)
	base, _, _ := strings.Cut(link, "enter?")
	for _, address := range []string{link, base + "worktrees", base + "items?view=tree", base + "tasks", base + "prompts", base + "search?q=a", base + "health", base + "live/worktrees"} {
		within := ctx
		if strings.Contains(address, "/live/") {
			one, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
			defer cancel()
			within = one
		}
		a := attempt{entry: "copse board"}
		request, err := http.NewRequestWithContext(within, http.MethodGet, address, http.NoBody)
		if err == nil {
			var response *http.Response
			if response, err = browser.Do(request); err == nil {
				_, _ = io.Copy(io.Discard, response.Body) // a stream ends with the context
				response.Body.Close()
			}
		}
		if err != nil && within.Err() == nil {
			a.failed = err.Error()
		}
		v.tried(a)
	}
}

// get asks for a route and reads what comes within a moment.
func (v *visitor) get(ctx context.Context, address, entry string) {
	ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err == nil {
		request.Header.Set("Accept", "text/event-stream")
		var response *http.Response
		if response, err = http.DefaultClient.Do(request); err == nil {
			_, _ = io.Copy(io.Discard, response.Body) // a stream ends with the context
			response.Body.Close()
		}
	}
	a := attempt{entry: entry}
	if err != nil && ctx.Err() == nil {
		a.failed = err.Error()
	}
	v.tried(a)
}

// post holds a conversation over HTTP.
func (v *visitor) post(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := mcptext.Bridge(ctx, address, nil, in, out)
		out.CloseWithError(err)
		in.CloseWithError(err) // nobody reads the next request
		ended <- err
	}()
	lines := bufio.NewReader(answers)
	id := 0
	request := func(method, params string) ([]byte, error) {
		id++
		if _, err := fmt.Fprintf(requests, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params); err != nil {
			return nil, err
		}
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return nil, err
			}
			var answer struct {
				ID     json.RawMessage
				Method string
				Error  json.RawMessage
			}
			if err := json.Unmarshal(line, &answer); err != nil {
				return nil, err
			}
			if string(answer.ID) != strconv.Itoa(id) || answer.Method != "" {
				continue
			}
			if answer.Error != nil {
				return nil, errors.New(string(answer.Error))
			}
			return line, nil
		}
	}
	_, err := request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}`)
	if err == nil {
		err = v.offers("copse up", request)
	}
	requests.Close()
	go io.Copy(io.Discard, answers)
	return errors.Join(err, <-ended)
}
