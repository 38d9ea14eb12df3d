// Package stdio is the transport of a server whose client is at its standard input and output: one
// JSON-RPC message per line.
//
// Use [Transport]. A line that is not a message gets an error as its answer, and the connection
// continues. At the end of the input, requests that are under way still get their answers.
package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	fastjson "github.com/segmentio/encoding/json"

	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/stackroom"
)

const (
	// maxLine limits one message of the client. A longer one is refused and skipped.
	maxLine = 16 << 20
	// drain is how long calls that are still running may take to answer
	// after the input has ended, so that a script can pipe requests in.
	drain = 500 * time.Millisecond
	// maxRunning is how many calls run before the next one waits for others to end. Thousands at once
	// take longer in all: their stacks fill the caches, and the collector scans each of them.
	maxRunning = 32
	// maxWait limits that wait, so calls that take long do not hold up the others, or the client's
	// answers and cancellations.
	maxWait = 10 * time.Millisecond
	// maxUntaken and maxUntakenSize limit the answers that the client has not read, in number and bytes.
	// Above that, the server reads no further message, and untakenTime without a read ends the connection.
	maxUntaken     = 1000
	maxUntakenSize = 64 << 20
	untakenTime    = 30 * time.Second
	// patience is how long the server waits for work before it calls Ready.
	patience = 100 * time.Millisecond
)

// Transport is one JSON-RPC message per line. The library's own stream transport ends the connection at
// the first line that is not a message; this one answers such a line with an error and continues.
type Transport struct {
	In     io.Reader
	Out    io.Writer
	Stop   <-chan struct{} // ends the connection immediately, like the end of the input
	Logger *slog.Logger
	// Parked are the results that the connection writes in place of their short texts.
	Parked *wire.Parked
	// Ready, if set, is called once, before the first request that begins work is passed on, but at
	// the latest after patience.
	Ready func()
	// Ended, if set, is closed when no further message is read.
	Ended chan struct{}
}

var _ mcp.Transport = (*Transport)(nil)

// Connect starts reading.
func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	c := &stdioConn{
		out:      t.Out,
		logger:   t.Logger,
		stop:     t.Stop,
		parked:   t.Parked,
		messages: make(chan jsonrpc.Message),
		closed:   make(chan struct{}),
		open:     make(map[jsonrpc.ID]replySlot),
		idle:     make(chan struct{}, 1),
		room:     make(chan struct{}, 1),
		writing:  make(chan struct{}, 1),
		taken:    make(chan struct{}, 1),
	}
	if t.Ready != nil {
		c.prepare = sync.OnceFunc(t.Ready)
		c.patience = time.AfterFunc(patience, c.prepare)
	}
	go func() {
		stackroom.Grow() // the first message makes codecs of all types, which takes a deep stack
		c.readLines(t.In)
		if t.Ended != nil {
			close(t.Ended)
		}
	}()
	return c, nil
}

type stdioConn struct {
	logger   *slog.Logger
	stop     <-chan struct{}
	parked   *wire.Parked
	prepare  func()               // Ready, once; nil for none
	patience *time.Timer          // calls prepare; nil for none
	messages chan jsonrpc.Message // closed at the end of the input
	closing  sync.Once
	closed   chan struct{}

	writing chan struct{} // holds the turn to write
	out     io.Writer

	mu      sync.Mutex
	open    map[jsonrpc.ID]replySlot // of requests without an answer
	pending int                      // answers that have not been written yet
	idle    chan struct{}            // signalled when pending falls to 0
	running int                      // requests that the server works on
	room    chan struct{}            // signalled when running falls to half of maxRunning
	untaken [2]int                   // lines to write, and their bytes
	taken   chan struct{}            // signalled when a line is written
}

// batch is a JSON array of requests, which the revisions before 2025-06-18 allow; its answers are
// sent in the order of the requests.
type batch struct {
	waiting int
	answers []json.RawMessage
}

// replySlot is the place of an answer: its batch, and its index there.
type replySlot struct {
	batch *batch // nil for a request outside a batch
	index int
}

var _ mcp.Connection = (*stdioConn)(nil)

// readLines turns lines into messages until the input ends. The goroutine outlives the connection
// if a read of the input cannot be interrupted.
func (c *stdioConn) readLines(in io.Reader) {
	defer close(c.messages)
	r := bufio.NewReaderSize(in, 64<<10)
	for c.awaitTaken() {
		line, err := readLine(r)
		if errors.Is(err, errLineTooLong) {
			c.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("message is longer than %d MiB", maxLine>>20))
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			for _, msg := range c.decode(line) {
				if c.prepare != nil && begins(msg) {
					c.prepare()
				}
				c.awaitRoom(msg)
				select {
				case c.messages <- msg:
				case <-c.closed:
					return
				}
			}
		}
		if err != nil {
			return
		}
		if r.Buffered() == 0 {
			// The read will block this thread. What the message started runs on it first: waking
			// another thread for that takes longer than most answers.
			runtime.Gosched()
		}
	}
}

// begins reports whether a message can begin work. The others only ask what the server has.
func begins(msg jsonrpc.Message) bool {
	req, ok := msg.(*jsonrpc.Request)
	return ok && req.Method != "initialize" && req.Method != "notifications/initialized" && !strings.HasSuffix(req.Method, "/list")
}

// awaitRoom waits before a request while very many run.
func (c *stdioConn) awaitRoom(msg jsonrpc.Message) {
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return
	}
	c.mu.Lock()
	full := false
	if _, ok := c.open[req.ID]; ok {
		c.running++
		full = c.running > maxRunning
	}
	c.mu.Unlock()
	if !full {
		return
	}
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	select {
	case <-c.room:
	case <-limit.C:
	case <-c.closed:
	case <-c.stop:
	}
}

var errLineTooLong = errors.New("line too long")

// readLine reads up to the next newline or the end of the input. It discards a line that is too
// long.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > maxLine; !tooLong {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && err == nil {
			return nil, errLineTooLong
		}
		return line, err
	}
}

// decode turns a line into messages for the server, and answers invalid ones.
func (c *stdioConn) decode(line []byte) []jsonrpc.Message {
	if !json.Valid(line) {
		c.refuse(jsonrpc.CodeParseError, "this line is not JSON")
		return nil
	}
	if line[0] != '[' {
		msg, err := decodeOne(line)
		if err == nil {
			err = c.opened(msg, nil)
		}
		if err != nil {
			c.refuseMessage(err)
			return nil
		}
		return []jsonrpc.Message{msg}
	}
	var lines []json.RawMessage
	if err := json.Unmarshal(line, &lines); err != nil || len(lines) == 0 {
		c.refuse(jsonrpc.CodeInvalidRequest, "an empty batch")
		return nil
	}
	var msgs []jsonrpc.Message
	requests := &batch{}
	for _, l := range lines {
		msg, err := decodeOne(l)
		if err == nil {
			err = c.opened(msg, requests)
		}
		if err != nil {
			c.refuseMessage(err)
			continue
		}
		msgs = append(msgs, msg)
	}
	return msgs
}

func decodeOne(line []byte) (jsonrpc.Message, error) {
	if line[0] != '{' {
		return nil, errors.New("this is not a JSON-RPC 2.0 message: it is not an object")
	}
	if req := decodeRequest(line); req != nil {
		return req, nil
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return nil, fmt.Errorf("this is not a JSON-RPC 2.0 message: %w", err)
	}
	head, err := wire.ReadEnvelope(line)
	if err == nil {
		err = head.CheckID()
	}
	return msg, err
}

// shallow is the maximum number of objects and arrays in a line for [decodeRequest], whose decoder is
// recursive.
const shallow = 500

// decodeRequest returns the request in a line, as the library decodes it. It returns nil for any
// other message, and for an unusual one. The library takes 64 KiB of memory for each message.
func decodeRequest(line []byte) *jsonrpc.Request {
	if bytes.Count(line, []byte("{"))+bytes.Count(line, []byte("[")) > shallow {
		return nil
	}
	var m struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		Error   json.RawMessage `json:"error"`
	}
	rest, err := fastjson.Parse(line, &m, fastjson.DontMatchCaseInsensitiveStructFields)
	if err != nil || len(rest) > 0 || m.Version != "2.0" || m.Method == "" || m.Error != nil {
		return nil
	}
	id, ok := usualID(m.ID)
	if !ok {
		return nil
	}
	return &jsonrpc.Request{ID: id, Method: m.Method, Params: m.Params}
}

// usualID returns an ID that is a string or a number as clients count; ok is false for any other. Without a text, there is none.
func usualID(text json.RawMessage) (id jsonrpc.ID, ok bool) {
	const maxDigits = 15
	var value any
	switch {
	case len(text) == 0:
		return id, true
	case text[0] == '"':
		var s string
		if json.Unmarshal(text, &s) != nil {
			return id, false
		}
		value = s
	default:
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil || len(text) > maxDigits {
			return id, false
		}
		value = float64(n)
	}
	id, err := jsonrpc.MakeID(value)
	return id, err == nil
}

// opened records a request that expects an answer. An id that is in use would make the answers
// ambiguous, and end the library's connection: it is refused.
func (c *stdioConn) opened(msg jsonrpc.Message, in *batch) error {
	req, ok := msg.(*jsonrpc.Request)
	// A listen request stays open until the client disconnects.
	if !ok || !req.IsCall() || req.Method == "subscriptions/listen" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.open[req.ID]; used {
		return fmt.Errorf("request id %v is in use by a call that is still running", req.ID.Raw())
	}
	slot := replySlot{batch: in}
	if in != nil {
		slot.index = len(in.answers)
		in.answers = append(in.answers, nil)
		in.waiting++
	}
	c.open[req.ID] = slot
	c.pending++
	return nil
}

// refuseMessage answers an invalid message.
func (c *stdioConn) refuseMessage(err error) {
	var id json.RawMessage
	if inexact, ok := errors.AsType[*wire.IDError](err); ok {
		id = inexact.ID
	}
	c.refuseID(id, jsonrpc.CodeInvalidRequest, err.Error())
}

// refuse answers a line without a usable request id.
func (c *stdioConn) refuse(code int64, message string) { c.refuseID(nil, code, message) }

// refuseID answers a message with an id, nil for none.
func (c *stdioConn) refuseID(id json.RawMessage, code int64, message string) {
	line, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, &jsonrpc.Error{Code: code, Message: message}})
	if err == nil {
		err = c.writeLine(line)
	}
	c.logger.Warn("refused a line of the client", "reason", message)
	if err != nil {
		c.logger.Warn("the refusal of a line could not be sent", "error", err)
	}
}

// Read returns the next message, io.EOF at the end of the input.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	case <-c.stop:
		return nil, io.EOF
	case msg, ok := <-c.messages:
		if ok {
			return msg, nil
		}
	}
	c.awaitAnswers(ctx)
	return nil, io.EOF
}

func (c *stdioConn) awaitAnswers(ctx context.Context) {
	limit := time.NewTimer(drain)
	defer limit.Stop()
	for {
		c.mu.Lock()
		left := c.pending
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.idle:
		case <-limit.C:
			c.logger.Warn("the input ended before all calls were answered", "calls", left)
			return
		case <-ctx.Done():
			return
		case <-c.closed:
			return
		case <-c.stop:
			return
		}
	}
}

// Write sends a message in one write, so lines never mix.
func (c *stdioConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	resp, ok := msg.(*jsonrpc.Response)
	if ok {
		resp.Result = c.parked.Take(resp.Result)
	}
	line, err := wire.Encode(msg)
	if err != nil && ok {
		// A failed write of one answer must not affect the others.
		c.logger.Error("an answer could not be encoded", "error", err)
		line, err = jsonrpc.EncodeMessage(&jsonrpc.Response{ID: resp.ID, Error: &jsonrpc.Error{
			Code: jsonrpc.CodeInternalError, Message: "the answer could not be encoded: " + err.Error(),
		}})
	}
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	if !ok {
		return c.writeLine(line)
	}
	line, answers := c.answered(resp.ID, line)
	if line != nil {
		err = c.writeLine(line)
	}
	c.written(answers)
	return err
}

// answered closes a request. It returns what to write now: the line itself, a whole batch, or nil
// while the rest of a batch is missing; and the number of answers in it. The id is free from here
// on, before the client can have seen the answer.
func (c *stdioConn) answered(id jsonrpc.ID, line []byte) ([]byte, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	slot, known := c.open[id]
	delete(c.open, id)
	if known {
		if c.running--; c.running == maxRunning/2 {
			select {
			case c.room <- struct{}{}:
			default:
			}
		}
	}
	requests := slot.batch
	switch {
	case !known:
		return line, 0
	case requests == nil:
		return line, 1
	}
	requests.answers[slot.index] = line
	if requests.waiting--; requests.waiting > 0 {
		return nil, 0
	}
	all, err := json.Marshal(requests.answers)
	if err != nil { // each of them was encoded before
		return line, len(requests.answers)
	}
	return all, len(requests.answers)
}

// written records that n answers have been sent.
func (c *stdioConn) written(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending -= n; c.pending == 0 && n > 0 {
		select {
		case c.idle <- struct{}{}:
		default:
		}
	}
}

func (c *stdioConn) writeLine(line []byte) error {
	c.owe(1, len(line))
	c.writing <- struct{}{}
	_, err := c.out.Write(append(line, '\n'))
	<-c.writing
	c.owe(-1, -len(line))
	select {
	case c.taken <- struct{}{}:
	default:
	}
	return err
}

// owe adds lines and bytes to those that wait for the client.
func (c *stdioConn) owe(lines, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.untaken[0] += lines
	c.untaken[1] += bytes
}

// awaitTaken waits until the client has read so much that its next message may be read. It returns
// false if the client reads nothing.
func (c *stdioConn) awaitTaken() bool {
	for {
		c.mu.Lock()
		full := c.untaken[0] > maxUntaken || c.untaken[1] > maxUntakenSize
		c.mu.Unlock()
		if !full {
			return true
		}
		limit := time.NewTimer(untakenTime)
		select {
		case <-c.taken:
			limit.Stop()
		case <-limit.C:
			c.logger.Error("the client does not read the answers, so its messages are not read")
			return false
		case <-c.closed:
			return false
		case <-c.stop:
			return false
		}
	}
}

// Close ends Read. It does not close the streams, which belong to the caller.
func (c *stdioConn) Close() error {
	c.closing.Do(func() {
		close(c.closed)
		if c.patience != nil {
			c.patience.Stop()
		}
	})
	return nil
}

// SessionID returns "": a pair of streams is one session.
func (c *stdioConn) SessionID() string { return "" }
