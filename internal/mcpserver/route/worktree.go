// Package route finds the worktree that a call is about: the one that the call names, or else the
// one that the client's session is in.
//
// Use [Locator.Of], and [Locate] to name the worktree in the answer.
package route

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/toolset"
)

// Worktrees finds the worktree that a call is about, for a server that answers for several.
//
// A call can name one with the argument "worktree". Without it the server asks where the
// client's session is: Codex says so in each call, and a client with roots is asked in each
// call, because Claude Code moves to another worktree without notice.
type Worktrees interface {
	// Find returns the worktree of a call. named is what the call asks for, "" for nothing.
	// dirs are the absolute paths of the directories that the client's session is in, the
	// most important first; none if the client does not tell. An error is a
	// [*toolset.ArgumentError] that says which worktrees there are.
	Find(ctx context.Context, named string, dirs []string) (*Worktree, error)
	// Follows reports whether the directory of the session matters.
	Follows() bool
	// Start returns the worktree of a request that has no means to say which it is about, nil if the server
	// serves more than one repository.
	Start() *Worktree
}

// Worktree is a worktree with the things served from it. Create one with [NewWorktree].
type Worktree struct {
	Tools     map[string]toolset.Tool
	prompts   map[string]toolset.Prompt
	Resources map[string]toolset.Resource
	Templates map[string]toolset.Template
	offers    []func(context.Context) *toolset.Offer
	Skills    []func(context.Context) []toolset.Skill
	Jobs      []toolset.Jobs
	Name      func() string
}

// NewWorktree returns a worktree. name returns what its answers call it, "" where that goes
// without saying.
func NewWorktree(toolsets []toolset.Toolset, name func() string) *Worktree {
	p := &Worktree{
		Tools: make(map[string]toolset.Tool), prompts: make(map[string]toolset.Prompt),
		Resources: make(map[string]toolset.Resource), Templates: make(map[string]toolset.Template), Name: name,
	}
	for _, set := range toolsets {
		for _, t := range set.Tools {
			p.Tools[t.Name] = t
		}
		for _, r := range set.Prompts {
			p.prompts[r.Name] = r
		}
		for _, r := range set.Resources {
			p.Resources[r.URI] = r
		}
		for _, t := range set.Templates {
			p.Templates[t.URITemplate] = t
		}
		if set.Offer != nil {
			p.offers = append(p.offers, set.Offer)
		}
		if set.Skills != nil {
			p.Skills = append(p.Skills, set.Skills)
		}
		if set.Jobs != nil {
			p.Jobs = append(p.Jobs, set.Jobs)
		}
	}
	return p
}

// Offered returns the prompts that are currently offered.
func (p *Worktree) Offered(ctx context.Context) []toolset.Prompt {
	var all []toolset.Prompt
	for _, ask := range p.offers {
		if o := ask(ctx); o != nil {
			all = append(all, o.Prompts...)
		}
	}
	return all
}

// Prompt returns the prompt with a name, including those that are currently offered.
func (p *Worktree) Prompt(ctx context.Context, name string) (toolset.Prompt, bool) {
	if found, ok := p.prompts[name]; ok {
		return found, true
	}
	offered := p.Offered(ctx)
	if i := slices.IndexFunc(offered, func(p toolset.Prompt) bool { return p.Name == name }); i >= 0 {
		return offered[i], true
	}
	return toolset.Prompt{}, false
}

const (
	// WorktreeArgument names the worktree of a call.
	WorktreeArgument = "worktree"
	// rootsKey is the key of the request for roots, and of the answer.
	rootsKey = "roots"
	// maxDirs is the maximum number of directories of a session to examine.
	maxDirs = 20
)

// Codex reports the directory of its session in these.
const (
	CodexSandbox = "codex/sandbox-state-meta"
	codexTurn    = "x-codex-turn-metadata"
)

// Locator finds the worktree of each call.
type Locator struct {
	Find Worktrees
	mute sync.Map // sessions whose client declares roots and does not know the question
}

// Caller is a request's data about its session.
type Caller struct {
	Session   *mcp.ServerSession
	Caps      *mcp.ClientCapabilities
	Meta      mcp.Meta
	Responses mcp.InputResponseMap
}

// Of returns the worktree of a call. ask says that the client must be asked for its roots
// first, and sends the call again.
func (p *Locator) Of(ctx context.Context, c Caller, named string) (worktree *Worktree, ask bool, err error) {
	var at reported
	if p.Find.Follows() {
		if at = codexDirs(c.Meta); len(at.dirs) == 0 {
			roots, ask, err := p.roots(ctx, c)
			if ask || err != nil {
				return nil, ask, err
			}
			roots.odd = cmp.Or(roots.odd, at.odd)
			at = roots
		}
	}
	worktree, err = p.find(ctx, named, at)
	return worktree, false, err
}

// find returns the worktree of a session. One that reports only addresses of other machines is in no repository of
// a server of several.
func (p *Locator) find(ctx context.Context, named string, at reported) (*Worktree, error) {
	if len(at.dirs) == 0 && at.odd != "" && p.Several() {
		return nil, &toolset.ArgumentError{
			Name: "worktree", Message: "This session is in " + foreign.Mention(cleantext.Cut(at.odd, 200)) + ", which is not the path of a directory on this machine",
			Hint: "Start the client in a worktree that `copse up` serves.",
		}
	}
	return p.Find.Find(ctx, named, at.dirs[:min(len(at.dirs), maxDirs)])
}

// Told returns the worktree of a request that cannot ask its client: the one that the request itself reports, or
// the one in which the server was started. It is nil if the server serves more than one repository, and the
// request reports nothing.
func (p *Locator) Told(ctx context.Context, meta mcp.Meta) (*Worktree, error) {
	if at := codexDirs(meta); (len(at.dirs) > 0 || at.odd != "") && p.Find.Follows() {
		return p.find(ctx, "", at)
	}
	return p.Find.Start(), nil
}

// Unasked returns the worktree of a request whose client cannot be asked for its roots in the
// result. A client of an older revision is asked during the call. For another one with roots, it is the worktree in
// which the server was started, nil if the server serves more than one repository.
func (p *Locator) Unasked(ctx context.Context, c Caller) (*Worktree, error) {
	worktree, ask, err := p.Of(ctx, c, "")
	if ask {
		return p.Find.Start(), nil
	}
	return worktree, err
}

// Several reports whether the server serves more than one repository: what one has is not for the sessions of
// others.
func (p *Locator) Several() bool { return p != nil && p.Find.Start() == nil }

// fileURI returns the path of a file URI.
func fileURI(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	path := u.Path
	if runtime.GOOS == "windows" { // file:///C:/dir
		path = strings.TrimPrefix(path, "/")
	}
	path = filepath.FromSlash(path)
	return filepath.Clean(path), filepath.IsAbs(path)
}

// reported are the directories that a client reports.
type reported struct {
	dirs []string // absolute
	odd  string   // an address that is not the path of a directory here; "" if there is none
}

// add adds an address: a file URI, or a path.
func (r *reported) add(address string) {
	dir, ok := fileURI(address)
	if !ok && filepath.IsAbs(address) {
		dir, ok = filepath.Clean(address), true
	}
	if ok {
		r.dirs = append(r.dirs, dir)
	} else {
		r.odd = cmp.Or(r.odd, address, "no address")
	}
}

// codexDirs returns the directories that Codex reports.
func codexDirs(meta mcp.Meta) (r reported) {
	if sandbox, ok := meta[CodexSandbox].(map[string]any); ok {
		if address, ok := sandbox["sandboxCwd"]; ok {
			if r.add(fmt.Sprint(address)); len(r.dirs) > 0 {
				return r
			}
		}
	}
	turn := meta[codexTurn]
	if text, ok := turn.(string); ok {
		if json.Unmarshal([]byte(text), &turn) != nil {
			return r
		}
	}
	object, _ := turn.(map[string]any)
	workspaces, _ := object["workspaces"].(map[string]any)
	for _, dir := range slices.Sorted(maps.Keys(workspaces)) {
		r.add(dir)
	}
	return r
}

// TakeWorktree returns the worktree in an argument, and the other arguments. argument is
// [WorktreeArgument], or [AnsweredIn] for a tool that has an argument of that name.
func TakeWorktree(args json.RawMessage, argument string) (named string, rest json.RawMessage, err error) {
	if !bytes.Contains(args, []byte(`"`+argument+`"`)) {
		return "", args, nil
	}
	members := membersOf(args)
	// A value that is not an object has no members; the tool reports the error.
	value, ok := members[argument]
	if !ok {
		return "", args, nil
	}
	var text *string
	if string(value) == "0" {
		value = nil // none, as for other arguments
	}
	if value != nil && json.Unmarshal(value, &text) != nil {
		return "", args, &toolset.ArgumentError{Name: argument, Message: `Argument "` + argument + `" must be a string: the path of a worktree, or the branch that is checked out there`}
	}
	delete(members, argument)
	if rest, err = json.Marshal(members); err != nil || text == nil {
		return "", rest, err
	}
	return *text, rest, nil
}

// InArgument returns an error about [WorktreeArgument] in terms of the argument that names the
// worktree.
func InArgument(err error, argument string) error {
	e, ok := errors.AsType[*toolset.ArgumentError](err)
	if !ok || e.Name != WorktreeArgument {
		return err
	}
	return &toolset.ArgumentError{Name: argument, Message: strings.ReplaceAll(e.Message, `"`+WorktreeArgument+`"`, `"`+argument+`"`), Hint: e.Hint}
}

// membersOf returns the members of an object, none of anything else.
func membersOf(args json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return nil
	}
	return members
}

// Locate adds the worktree to both halves of a result.
func Locate(r toolset.Result, worktree string) toolset.Result {
	if worktree == "" {
		return r
	}
	member := WorktreeArgument
	if r.OwnWorktree {
		member = AnsweredIn
	}
	r.Text = slices.Clone(r.Text)
	inText := false
	if len(r.Structured) > 1 && r.Structured[0] == '{' {
		encoded := string(r.Structured)
		doc := withMember(encoded, member, worktree)
		r.Structured = json.RawMessage(doc)
		switch {
		case len(r.Text) == 0 || !strings.HasPrefix(r.Text[0], "{"):
		case r.Text[0] == encoded:
			r.Text[0], inText = doc, true
		default: // the same in another layout
			r.Text[0], inText = withMember(r.Text[0], member, worktree), true
		}
	}
	// The line is last whatever the text contains: a file can contain such a line, too.
	if !inText {
		// Some clients join the blocks without a separator.
		if n := len(r.Text); n > 0 && !strings.HasSuffix(r.Text[n-1], "\n") {
			r.Text[n-1] += "\n"
		}
		r.Text = append(r.Text, WorktreeLine(worktree))
	}
	return r
}

// Located returns a document with its worktree: a JSON object gets a member, any other text a line.
func Located(text, worktree string, isJSON bool) string {
	switch {
	case worktree == "":
		return text
	case isJSON && strings.HasPrefix(text, "{"):
		return withMember(strings.TrimSpace(text), WorktreeArgument, worktree)
	}
	return strings.TrimRight(text, "\n") + "\n\n" + WorktreeLine(worktree)
}

// WorktreeLine returns the line that names a worktree. The creator of the directory chose its name,
// so the name is marked as foreign.
func WorktreeLine(worktree string) string {
	return foreign.Own("Worktree: ").Name(worktree).Markdown() + "\n"
}

// AnsweredIn names the worktree beside another "worktree": it is the member of an object such as a
// work item that is linked to one, and the argument of a tool that links it.
const AnsweredIn = "answered_in"

// withMember adds a last member to a JSON object, in the object's own layout.
func withMember(object, member, value string) string {
	before := strings.TrimRight(object[:len(object)-1], " \n")
	comma, space, colon := ",", "", ":"
	if before == "{" {
		comma = "" // it is empty
	}
	if inner, ok := strings.CutPrefix(object, "{\n"); ok {
		space, colon = "\n"+inner[:len(inner)-len(strings.TrimLeft(inner, " "))], ": "
	}
	quoted, _ := toolset.Marshal(value) // a string always encodes
	return before + comma + space + `"` + member + `"` + colon + string(quoted) + object[len(before):]
}
