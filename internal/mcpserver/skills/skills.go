// Package skills serves the extension Skills (SEP-2640): a client lists skills with skills/list,
// looks one up with skills/get, and reads its file as a resource. It refuses a file that does not
// have the size and the digest of the list.
package skills

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/answer"
	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
)

const (
	// Extension is the name of the extension.
	Extension = "io.modelcontextprotocol/skills"
	// Template is the template of the URIs of skills.
	Template = scheme + "{name}" + file

	scheme   = "skill://"
	file     = "/SKILL.md"
	mimeType = "text/markdown"
)

// pageSize is the number of skills in a page of the list. Each of them is read for its digest.
const pageSize = 50

type listParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type getParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

// common is the common part of both methods' results.
type common struct {
	mcp.ResultBase
	mcp.Cacheable
	Type string `json:"resultType"`
}

type listResult struct {
	common
	Skills     []entry `json:"skills"`
	NextCursor string  `json:"nextCursor,omitempty"`
}

type getResult struct {
	common
	Skill entry `json:"skill"`
}

// entry describes a skill. Its one file has the skill's own URI.
type entry struct {
	URI         string       `json:"uri"`
	Frontmatter frontmatter  `json:"frontmatter"`
	Resources   []fileDigest `json:"resources"`
}

type frontmatter struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type fileDigest struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

// Redact implements [answer.Result].
func (r *listResult) Redact(g *answer.Guard) {
	for i := range r.Skills {
		r.Skills[i].redact(g)
	}
}

// Redact implements [answer.Result].
func (r *getResult) Redact(g *answer.Guard) { r.Skill.redact(g) }

// redact removes the secrets from an entry, which was created for the answer.
func (e *entry) redact(g *answer.Guard) {
	g.Texts(&e.URI, &e.Frontmatter.Name, &e.Frontmatter.Description)
	for i := range e.Resources {
		g.Texts(&e.Resources[i].URI)
	}
}

// Skills are the skills of toolsets.
type Skills struct {
	Guard   *answer.Guard
	Locator *route.Locator // nil for one worktree
	Each    []func(context.Context) []toolset.Skill
}

// Serve registers the methods, and the file of every skill as a resource.
func (k *Skills) Serve(library *mcp.Server) {
	wire.Registered(mcp.AddReceivingCustomMethod(library, "skills/list", k.list))
	wire.Registered(mcp.AddReceivingCustomMethod(library, "skills/get", k.get))
	library.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: Template, Name: "skill", Title: "Skill", MIMEType: mimeType,
		Description: "A prompt as a skill: the instructions, with placeholders",
	}, k.read)
}

// Variables returns the variables of the template, for the skills of each.
func Variables(each []func(context.Context) []toolset.Skill) []toolset.Argument {
	complete := func(ctx context.Context, prefix string, _ map[string]string) ([]string, error) {
		var names []string
		for _, s := range ordered(ctx, each) {
			if strings.HasPrefix(s.Name, prefix) {
				names = append(names, s.Name)
			}
		}
		return names, nil
	}
	return []toolset.Argument{{Name: "name", Complete: complete}}
}

// of returns the skills for a client, ordered by name. A client of 2026-07-28 cannot be asked for
// its roots here, so it gets the skills of the worktree in which the server was started, and none from a server of
// several repositories.
func (k *Skills) of(ctx context.Context, session *mcp.ServerSession, meta mcp.Meta) ([]toolset.Skill, error) {
	each := k.Each
	if k.Locator != nil {
		c := route.Caller{Session: session, Meta: meta}
		if params := session.InitializeParams(); params != nil {
			c.Caps = params.Capabilities
		}
		worktree, err := k.Locator.Unasked(ctx, c)
		if err != nil {
			return nil, wire.InvalidParams("%v", err)
		}
		if worktree == nil {
			return nil, nil
		}
		each = worktree.Skills
	}
	return ordered(ctx, each), nil
}

// ordered returns the skills of several toolsets by name.
func ordered(ctx context.Context, each []func(context.Context) []toolset.Skill) []toolset.Skill {
	var all []toolset.Skill
	for _, skills := range each {
		all = append(all, skills(ctx)...)
	}
	slices.SortStableFunc(all, func(a, b toolset.Skill) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// result returns the common part of all results. A client asks again: a registry can change.
func (k *Skills) result() common {
	return common{Type: "complete", Cacheable: mcp.Cacheable{CacheScope: "private"}}
}

func (k *Skills) list(ctx context.Context, session *mcp.ServerSession, params *listParams) (_ *listResult, err error) {
	defer k.Guard.Recovered(ctx, "skills/list", &err)
	if params == nil {
		params = &listParams{}
	}
	all, err := k.of(ctx, session, params.Meta)
	if err != nil {
		return nil, err
	}
	window, err := page.Limits{Default: pageSize, Max: pageSize}.Open(page.Request{Cursor: params.Cursor}, "skills/list")
	if err != nil {
		return nil, wire.InvalidParams("%v", err)
	}
	shown := page.List[toolset.Skill]{Key: func(s toolset.Skill) string { return s.Name }}.Cut(window, all)
	res := &listResult{common: k.result(), Skills: []entry{}, NextCursor: shown.Next}
	for _, s := range shown.Items {
		// A skill with an unreadable template does not affect the others.
		if entry, err := k.entry(ctx, s); err == nil {
			res.Skills = append(res.Skills, entry)
		}
	}
	return res, ctx.Err()
}

func (k *Skills) get(ctx context.Context, session *mcp.ServerSession, params *getParams) (_ *getResult, err error) {
	defer k.Guard.Recovered(ctx, "skills/get", &err)
	if params == nil {
		params = &getParams{}
	}
	found, err := k.find(ctx, session, params.Meta, params.URI)
	if err != nil {
		return nil, err
	}
	entry, err := k.entry(ctx, found)
	if err != nil {
		return nil, err
	}
	return &getResult{common: k.result(), Skill: entry}, nil
}

func (k *Skills) read(ctx context.Context, req *mcp.ReadResourceRequest) (_ *mcp.ReadResourceResult, err error) {
	defer k.Guard.Recovered(ctx, "resource "+Template, &err)
	found, err := k.find(ctx, req.Session, req.Params.Meta, req.Params.URI)
	if err != nil {
		return nil, err
	}
	text, err := content(ctx, found)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: text}}}, nil
}

// find returns the skill with a URI.
func (k *Skills) find(ctx context.Context, session *mcp.ServerSession, meta mcp.Meta, uri string) (toolset.Skill, error) {
	all, err := k.of(ctx, session, meta)
	if err != nil {
		return toolset.Skill{}, err
	}
	i := slices.IndexFunc(all, func(s toolset.Skill) bool { return uriOf(s) == uri })
	if i < 0 {
		return toolset.Skill{}, wire.InvalidParams("there is no skill %q; skills/list has the URIs of all", uri)
	}
	return all[i], nil
}

func uriOf(s toolset.Skill) string { return scheme + s.Name + file }

// content returns the file of a skill.
func content(ctx context.Context, s toolset.Skill) (string, error) {
	text, err := s.Read(ctx)
	if refused, ok := errors.AsType[*toolset.ArgumentError](err); ok {
		return "", wire.InvalidParams("%s", refused.Message)
	}
	return text, err
}

// entry describes a skill. The size and the digest are those of the text that leaves the server,
// which contains no secrets.
func (k *Skills) entry(ctx context.Context, s toolset.Skill) (entry, error) {
	text, err := content(ctx, s)
	if err != nil {
		return entry{}, err
	}
	text = k.Guard.Text(text)
	sum := sha256.Sum256([]byte(text))
	uri := uriOf(s)
	return entry{
		URI: uri, Frontmatter: frontmatter{Name: s.Name, Description: k.Guard.Text(s.Description)},
		Resources: []fileDigest{{URI: uri, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(text)}},
	}, nil
}
