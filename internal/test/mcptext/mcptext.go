// Package mcptext represents conversations with an MCP server as text, so a
// test of a tool is a text file. A script has one request per line; [Run] sends
// them one after the other and returns a transcript: each request after "> ",
// then a model's view of the answer.
//
//	call NAME [JSON]             tools/call; the text half, with "ERROR " before an error
//	read URI                     resources/read; the text
//	prompt NAME [JSON]           prompts/get; the text of the message
//	complete prompt NAME ARG [VALUE]
//	complete resource URI ARG [VALUE]
//	list tools|prompts|resources|templates|skills    the names
//	skill URI                    skills/get and resources/read; the file, if its digest is right
//	raw JSON                     a whole message, the answer as it came
//	send JSON                    the same without waiting for an answer
//	do PROGRAM [ARG…]            run a program in between, to change what the server sees
//	subscribe URI                receive notifications of changes of a resource from now on
//	await URI                    wait until it has changed
//	until URI PROGRAM [ARG…]     run a program until a notification arrives, and then until none
//	                             follows: a subscription takes a moment to start
//	# comment
//
// "$cursor" in a line means the last next_cursor of an answer, and "$since"
// the token of the last context, which also appears in this form in the transcript.
//
// The two halves of each tool result are compared; a difference
// is printed as "MISMATCH".
package mcptext

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Era is the form of the requests.
type Era string

// The eras, by the revision that the client asks for.
const (
	Legacy Era = "2025-11-25"
	Modern Era = "2026-07-28"
	// Bare shakes no hands: the script does, with raw.
	Bare Era = ""
)

// Run sends the requests of script over in and out, which are the server's stdin and stdout, and
// returns the transcript. The verb do calls do.
func Run(era Era, script string, in io.Writer, out io.Reader, do func(program string, args ...string) error) (string, error) {
	c := &conversation{era: era, in: in, lines: make(chan string), failed: make(chan error, 1), do: do}
	stop := make(chan struct{})
	defer close(stop)
	go c.listen(bufio.NewReader(out), stop)
	if era == Legacy {
		if _, err := c.request("initialize", map[string]any{
			"protocolVersion": string(era),
			"capabilities":    map[string]any{},
			"clientInfo":      map[string]any{"name": "mcptext", "version": "0"},
		}); err != nil {
			return "", err
		}
		if err := c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
			return "", err
		}
	}
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fmt.Fprintf(&c.transcript, "> %s\n", line)
		if err := c.step(strings.NewReplacer("$cursor", c.cursor, "$since", c.since).Replace(line)); err != nil {
			return c.transcript.String(), fmt.Errorf("%s: %w", line, err)
		}
	}
	return c.transcript.String(), nil
}

type conversation struct {
	era        Era
	in         io.Writer
	lines      chan string // what the server sends
	failed     chan error  // why no more lines follow
	do         func(program string, args ...string) error
	id         int
	cursor     string
	since      string
	transcript strings.Builder
}

func (c *conversation) step(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "raw":
		if err := c.send(rest); err != nil {
			return err
		}
		answer, err := c.line()
		c.transcript.WriteString(answer)
		return err
	case "send":
		return c.send(rest)
	case "do":
		if words := strings.Fields(rest); len(words) > 0 {
			return c.do(words[0], words[1:]...)
		}
	case "subscribe":
		return c.subscribe(rest)
	case "await":
		return c.await(rest)
	case "until":
		uri, program, _ := strings.Cut(rest, " ")
		return c.until(uri, strings.Fields(program))
	case "call":
		name, args, _ := strings.Cut(rest, " ")
		params := map[string]any{"name": name}
		if args != "" {
			params["arguments"] = json.RawMessage(args)
		}
		return c.show("tools/call", params, c.showTool)
	case "read":
		return c.show("resources/read", map[string]any{"uri": rest}, showContents)
	case "prompt":
		name, args, _ := strings.Cut(rest, " ")
		params := map[string]any{"name": name}
		if args != "" {
			params["arguments"] = json.RawMessage(args)
		}
		return c.show("prompts/get", params, showPrompt)
	case "complete":
		return c.complete(strings.Fields(rest))
	case "skill":
		return c.skill(rest)
	case "list":
		method := rest + "/list"
		if rest == "templates" {
			method = "resources/templates/list"
		}
		return c.show(method, map[string]any{}, showNames)
	}
	return fmt.Errorf("unknown verb %q", verb)
}

func (c *conversation) complete(words []string) error {
	if len(words) < 3 {
		return errors.New("want: complete prompt|resource NAME ARGUMENT [VALUE]")
	}
	ref := map[string]any{"type": "ref/" + words[0]}
	if words[0] == "prompt" {
		ref["name"] = words[1]
	} else {
		ref["uri"] = words[1]
	}
	value := strings.Join(words[3:], " ")
	return c.show("completion/complete", map[string]any{
		"ref": ref, "argument": map[string]any{"name": words[2], "value": value},
	}, func(result json.RawMessage) string {
		var r struct {
			Completion struct{ Values []string }
		}
		if err := json.Unmarshal(result, &r); err != nil {
			return err.Error()
		}
		return strings.Join(r.Completion.Values, "\n")
	})
}

// skill looks a skill up and reads its file, as a client does that checks what it reads.
func (c *conversation) skill(uri string) error {
	var listed struct{ Size, Digest string }
	if err := c.show("skills/get", map[string]any{"uri": uri}, func(result json.RawMessage) string {
		var r struct {
			Skill struct {
				Resources []struct {
					Digest string
					Size   int
				}
			}
		}
		if err := json.Unmarshal(result, &r); err != nil || len(r.Skill.Resources) != 1 {
			return string(result)
		}
		listed.Size, listed.Digest = fmt.Sprint(r.Skill.Resources[0].Size), r.Skill.Resources[0].Digest
		return ""
	}); err != nil || listed.Digest == "" {
		return err
	}
	return c.show("resources/read", map[string]any{"uri": uri}, func(result json.RawMessage) string {
		text := showContents(result)
		sum := sha256.Sum256([]byte(text))
		if listed.Size != fmt.Sprint(len(text)) || listed.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
			return fmt.Sprintf("MISMATCH %+v\n%s", listed, text)
		}
		return text
	})
}

// show sends a request and prints what render makes of its result.
func (c *conversation) show(method string, params map[string]any, render func(json.RawMessage) string) error {
	answer, err := c.request(method, params)
	if err != nil {
		return err
	}
	text := "PROTOCOL ERROR " + string(answer.Error)
	if answer.Error == nil {
		text = render(answer.Result)
	}
	if text != "" {
		c.transcript.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	}
	return nil
}

func (c *conversation) showTool(result json.RawMessage) string {
	var r struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return err.Error()
	}
	if m := nextCursor.FindSubmatch(result); m != nil {
		c.cursor = string(m[1])
	}
	var b strings.Builder
	if r.IsError {
		b.WriteString("ERROR ")
	}
	for _, block := range r.Content {
		if m := sinceToken.FindStringSubmatch(block.Text); m != nil {
			c.since = m[1]
		}
		b.WriteString(sinceToken.ReplaceAllString(block.Text, `since="$$since"`) + "\n")
	}
	var blocks []string
	for _, block := range r.Content {
		blocks = append(blocks, block.Text)
	}
	if r.StructuredContent != nil && !sameFacts(blocks, r.StructuredContent) {
		fmt.Fprintf(&b, "MISMATCH %s\n", r.StructuredContent)
	}
	return b.String()
}

var sinceToken = regexp.MustCompile(`since="(c1[a-z2-7]+)"`)

var nextCursor = regexp.MustCompile(`\\?"next_cursor\\?":\\?"([^"\\]+)`)

// sameFacts reports whether the halves of a result say the same: the same JSON;
// or, for a list, one of the structured half's fields as an array, and each of the
// others in a line of the blocks after it, which have no line besides. A total
// needs no words where the array has as many elements. Or, for a text, each value in
// it.
func sameFacts(blocks []string, structured json.RawMessage) bool {
	if len(blocks) == 0 {
		return false
	}
	text, facts := decode(blocks[0]), decode(string(structured))
	list, isList := text.([]any)
	fields, isObject := facts.(map[string]any)
	if text == nil && isObject {
		return said(blocks, fields)
	}
	if !isList || !isObject {
		return text != nil && len(blocks) == 1 && reflect.DeepEqual(text, facts)
	}
	var words []string
	shown := false
	for name, value := range fields {
		switch {
		case !shown && reflect.DeepEqual(value, text):
			shown = true
		case name == "total":
			if fmt.Sprint(value) != fmt.Sprint(len(list)) {
				words = append(words, fmt.Sprintf(" of %v.", value))
			}
		case name == "warnings":
			warnings, _ := value.([]any)
			for _, w := range warnings {
				words = append(words, fmt.Sprint(w))
			}
		default:
			words = append(words, fmt.Sprint(value))
		}
	}
	unsaid := strings.Split(strings.Join(blocks[1:], "\n"), "\n")
	for _, w := range words {
		if !strings.Contains(strings.Join(blocks[1:], "\n"), w) {
			return false
		}
		unsaid = slices.DeleteFunc(unsaid, func(line string) bool { return strings.Contains(line, w) })
	}
	return shown && strings.Join(unsaid, "") == ""
}

// said reports whether each value that is not empty is in the blocks of a result whose
// text is for reading.
func said(blocks []string, fields map[string]any) bool {
	for _, value := range fields {
		text := fmt.Sprint(value)
		if text != "0" && !strings.Contains(strings.Join(blocks, "\n"), text) {
			return false
		}
	}
	return true
}

// decode returns what a JSON text holds, its numbers as they are written; nil if it is none.
func decode(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil || decoder.Decode(new(any)) != io.EOF {
		return nil
	}
	return v
}

func showContents(result json.RawMessage) string {
	var r struct{ Contents []struct{ Text string } }
	if err := json.Unmarshal(result, &r); err != nil || len(r.Contents) != 1 {
		return string(result)
	}
	return r.Contents[0].Text
}

func showPrompt(result json.RawMessage) string {
	var r struct {
		Messages []struct {
			Role    string
			Content struct{ Text string }
		}
	}
	if err := json.Unmarshal(result, &r); err != nil || len(r.Messages) != 1 {
		return string(result)
	}
	return r.Messages[0].Role + ":\n" + r.Messages[0].Content.Text
}

func showNames(result json.RawMessage) string {
	var r map[string]json.RawMessage
	if err := json.Unmarshal(result, &r); err != nil {
		return err.Error()
	}
	var names []string
	for _, key := range []string{"tools", "prompts", "resources", "resourceTemplates", "skills"} {
		var items []struct {
			Name, URI, URITemplate string
			Frontmatter            struct{ Description string }
		}
		if json.Unmarshal(r[key], &items) != nil {
			continue
		}
		for _, i := range items {
			names = append(names, strings.TrimSpace(i.Name+" "+i.URI+i.URITemplate+" "+i.Frontmatter.Description))
		}
	}
	return strings.Join(names, "\n")
}

type answer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// request waits for the answer to its own id; notifications are passed over.
func (c *conversation) request(method string, params map[string]any) (answer, error) {
	if c.era == Modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    string(c.era),
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	c.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return answer{}, err
	}
	if err := c.send(string(line)); err != nil {
		return answer{}, err
	}
	for {
		line, err := c.line()
		if err != nil {
			return answer{}, fmt.Errorf("read answer: %w", err)
		}
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			return answer{}, fmt.Errorf("stdout carries something else than protocol: %q", line)
		}
		if string(a.ID) == fmt.Sprint(c.id) {
			return a, nil
		}
	}
}

func (c *conversation) send(line string) error {
	_, err := io.WriteString(c.in, line+"\n")
	return err
}
