package mcpserver

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver/route"
	"github.com/copse-dev/copse/internal/mcpserver/wire"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
)

// The extension Skills (SEP-2640): a client lists skills with skills/list, looks one up with
// skills/get, and reads its file as a resource. It refuses a file that does not have the
// size and the digest of the list.
const (
	skillsExtension = "io.modelcontextprotocol/skills"
	skillTemplate   = skillScheme + "{name}" + skillFile
	skillScheme     = "skill://"
	skillFile       = "/SKILL.md"
	skillMIMEType   = "text/markdown"
)

// skillPage is the number of skills in a page of the list. Each of them is read for its digest.
const skillPage = 50

type listSkillsParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type getSkillParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

// skillsResult is the common part of both methods' results.
type skillsResult struct {
	mcp.ResultBase
	mcp.Cacheable
	Type string `json:"resultType"`
}

type listSkillsResult struct {
	skillsResult
	Skills     []skillEntry `json:"skills"`
	NextCursor string       `json:"nextCursor,omitempty"`
}

type getSkillResult struct {
	skillsResult
	Skill skillEntry `json:"skill"`
}

// skillEntry describes a skill. Its one file has the skill's own URI.
type skillEntry struct {
	URI         string            `json:"uri"`
	Frontmatter skillFrontmatter  `json:"frontmatter"`
	Resources   []skillFileDigest `json:"resources"`
}

type skillFrontmatter struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type skillFileDigest struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

// skills serves the skills of the toolsets.
type skills struct {
	server *Server
	each   []func(context.Context) []toolset.Skill
}

// serve registers the methods, and the file of every skill as a resource.
func (k *skills) serve(library *mcp.Server) {
	// Both errors mean that the protocol itself has a method with that name.
	must(mcp.AddReceivingCustomMethod(library, "skills/list", k.list))
	must(mcp.AddReceivingCustomMethod(library, "skills/get", k.get))
	library.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: skillTemplate, Name: "skill", Title: "Skill", MIMEType: skillMIMEType,
		Description: "A prompt as a skill: the instructions, with placeholders",
	}, k.read)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// complete lists the names of skills with the typed prefix.
func (k *skills) complete(ctx context.Context, prefix string, _ map[string]string) ([]string, error) {
	var names []string
	for _, s := range ordered(ctx, k.each) {
		if strings.HasPrefix(s.Name, prefix) {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// of returns the skills for a client, ordered by name. A client of 2026-07-28 cannot be asked for
// its roots here, so it gets the skills of the worktree in which the server was started.
func (k *skills) of(ctx context.Context, session *mcp.ServerSession, meta mcp.Meta) ([]toolset.Skill, error) {
	each := k.each
	if k.server.locator != nil {
		c := route.Caller{Session: session, Meta: meta}
		if params := session.InitializeParams(); params != nil {
			c.Caps = params.Capabilities
		}
		worktree, err := k.server.locator.Unasked(ctx, c)
		if err != nil {
			return nil, wire.InvalidParams("%v", err)
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
func (k *skills) result() skillsResult {
	return skillsResult{Type: "complete", Cacheable: mcp.Cacheable{CacheScope: "private"}}
}

func (k *skills) list(ctx context.Context, session *mcp.ServerSession, params *listSkillsParams) (_ *listSkillsResult, err error) {
	defer k.server.recovered(ctx, "skills/list", &err)
	if params == nil {
		params = &listSkillsParams{}
	}
	all, err := k.of(ctx, session, params.Meta)
	if err != nil {
		return nil, err
	}
	window, err := page.Limits{Default: skillPage, Max: skillPage}.Open(page.Request{Cursor: params.Cursor}, "skills/list")
	if err != nil {
		return nil, wire.InvalidParams("%v", err)
	}
	shown := page.List[toolset.Skill]{Key: func(s toolset.Skill) string { return s.Name }}.Cut(window, all)
	res := &listSkillsResult{skillsResult: k.result(), Skills: []skillEntry{}, NextCursor: shown.Next}
	for _, s := range shown.Items {
		// A skill with an unreadable template does not affect the others.
		if entry, err := k.entry(ctx, s); err == nil {
			res.Skills = append(res.Skills, entry)
		}
	}
	return res, ctx.Err()
}

func (k *skills) get(ctx context.Context, session *mcp.ServerSession, params *getSkillParams) (_ *getSkillResult, err error) {
	defer k.server.recovered(ctx, "skills/get", &err)
	if params == nil {
		params = &getSkillParams{}
	}
	found, err := k.find(ctx, session, params.Meta, params.URI)
	if err != nil {
		return nil, err
	}
	entry, err := k.entry(ctx, found)
	if err != nil {
		return nil, err
	}
	return &getSkillResult{skillsResult: k.result(), Skill: entry}, nil
}

func (k *skills) read(ctx context.Context, req *mcp.ReadResourceRequest) (_ *mcp.ReadResourceResult, err error) {
	defer k.server.recovered(ctx, "resource "+skillTemplate, &err)
	found, err := k.find(ctx, req.Session, req.Params.Meta, req.Params.URI)
	if err != nil {
		return nil, err
	}
	text, err := found.Read(ctx)
	return contents(nil, skillMIMEType, text, err)
}

// find returns the skill with a URI.
func (k *skills) find(ctx context.Context, session *mcp.ServerSession, meta mcp.Meta, uri string) (toolset.Skill, error) {
	all, err := k.of(ctx, session, meta)
	if err != nil {
		return toolset.Skill{}, err
	}
	i := slices.IndexFunc(all, func(s toolset.Skill) bool { return skillURI(s) == uri })
	if i < 0 {
		return toolset.Skill{}, wire.InvalidParams("there is no skill %q; skills/list has the URIs of all", uri)
	}
	return all[i], nil
}

func skillURI(s toolset.Skill) string { return skillScheme + s.Name + skillFile }

// entry describes a skill. The size and the digest are those of the text that leaves the server,
// which contains no secrets.
func (k *skills) entry(ctx context.Context, s toolset.Skill) (skillEntry, error) {
	text, err := s.Read(ctx)
	if err != nil {
		return skillEntry{}, err
	}
	text = k.server.redactText(text)
	sum := sha256.Sum256([]byte(text))
	uri := skillURI(s)
	return skillEntry{
		URI: uri, Frontmatter: skillFrontmatter{Name: s.Name, Description: k.server.redactText(s.Description)},
		Resources: []skillFileDigest{{URI: uri, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(text)}},
	}, nil
}
