package mcptext

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// listen passes on what the server sends, a line at a time, until the conversation ends.
func (c *conversation) listen(out *bufio.Reader, stop <-chan struct{}) {
	for {
		line, err := out.ReadString('\n')
		if line != "" {
			select {
			case c.lines <- line:
			case <-stop:
				return
			}
		}
		if err != nil {
			c.failed <- err
			close(c.lines)
			return
		}
	}
}

// line returns the next line that the server sends.
func (c *conversation) line() (string, error) {
	line, ok := <-c.lines
	if !ok {
		return "", c.ended()
	}
	return line, nil
}

// ended returns why no more lines follow.
func (c *conversation) ended() error {
	select {
	case err := <-c.failed:
		return err
	default:
		return io.EOF
	}
}

// subscribe asks for changes of a resource, in the way of the era.
func (c *conversation) subscribe(uri string) error {
	if c.era != Modern {
		return c.show("resources/subscribe", map[string]any{"uri": uri}, func(json.RawMessage) string { return "" })
	}
	c.id++
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": "subscriptions/listen", "params": map[string]any{
		"notifications": map[string]any{"resourceSubscriptions": []string{uri}},
		"_meta": map[string]any{
			"io.modelcontextprotocol/protocolVersion": string(c.era), "io.modelcontextprotocol/clientCapabilities": map[string]any{},
		},
	}})
	if err != nil {
		return err
	}
	if err := c.send(string(line)); err != nil {
		return err
	}
	for {
		line, err := c.line()
		if err != nil || strings.Contains(line, "acknowledged") {
			return err
		}
		var a answer
		if json.Unmarshal([]byte(line), &a) == nil && a.Error != nil {
			return fmt.Errorf("subscribe: %s", a.Error)
		}
	}
}

// isUpdate reports whether a line says that a resource has changed.
func isUpdate(line, uri string) bool {
	var note struct {
		Method string
		Params struct{ URI string }
	}
	return json.Unmarshal([]byte(line), &note) == nil && note.Method == "notifications/resources/updated" && note.Params.URI == uri
}

// await waits for a change.
func (c *conversation) await(uri string) error {
	for {
		line, err := c.line()
		if err != nil || isUpdate(line, uri) {
			return err
		}
	}
}

const (
	// again is after how long until runs its program again.
	again = 400 * time.Millisecond
	// quiet is how long nothing must be heard of.
	quiet = 700 * time.Millisecond
	// tries is how often until runs its program at most.
	tries = 50
)

// until runs a program until a change is heard of, and waits until no other follows.
func (c *conversation) until(uri string, program []string) error {
	if len(program) == 0 {
		return errors.New("want: until URI PROGRAM")
	}
	heard := false
	for n := 0; ; n++ {
		pause := quiet
		if !heard {
			if n == tries {
				return errors.New("no change is heard of")
			}
			if err := c.do(program[0], program[1:]...); err != nil {
				return err
			}
			pause = again
		}
		timer := time.NewTimer(pause)
		select {
		case line, ok := <-c.lines:
			timer.Stop()
			if !ok {
				return c.ended()
			}
			heard = heard || isUpdate(line, uri)
		case <-timer.C:
			if heard {
				return nil
			}
		}
	}
}
