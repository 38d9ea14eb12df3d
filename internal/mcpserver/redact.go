package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
)

// redacted removes the server's secrets from every answer: results of all kinds, and errors.
// Progress is redacted where it is reported.
func (s *Server) redacted(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		if err != nil {
			return result, s.redactError(err)
		}
		s.redactResult(result)
		return result, nil
	}
}

// redactResult removes the secrets from a result.
func (s *Server) redactResult(result mcp.Result) {
	switch r := result.(type) {
	case *mcp.CallToolResult:
		s.redactCall(r)
	case *task:
		if r.StatusMessage = cleantext.Cut(s.redactText(r.StatusMessage), maxStatus); r.Result != nil {
			s.redactCall(r.Result)
		}
	case *mcp.ReadResourceResult:
		for _, c := range r.Contents {
			if c.MIMEType != pageMIMEType { // a page is a part of the program
				c.Text = s.redactText(c.Text)
			}
		}
	case *mcp.GetPromptResult:
		for _, m := range r.Messages {
			if text, ok := m.Content.(*mcp.TextContent); ok {
				text.Text = s.redactText(text.Text)
			}
		}
	case *mcp.ListPromptsResult:
		r.Prompts = cleaned(r.Prompts, func(p *mcp.Prompt) {
			p.Arguments = cleaned(p.Arguments, func(a *mcp.PromptArgument) { s.redactAll(&a.Name, &a.Title, &a.Description) })
			s.redactAll(&p.Name, &p.Title, &p.Description)
		})
	case *mcp.ListResourcesResult:
		r.Resources = cleaned(r.Resources, func(r *mcp.Resource) { s.redactAll(&r.URI, &r.Name, &r.Title, &r.Description) })
	case *mcp.CompleteResult:
		r.Completion.Values = slices.Clone(r.Completion.Values)
		for i := range r.Completion.Values {
			s.redactAll(&r.Completion.Values[i])
		}
	case *listSkillsResult:
		for i := range r.Skills {
			s.redactSkill(&r.Skills[i])
		}
	case *getSkillResult:
		s.redactSkill(&r.Skill)
	}
}

// redactCall removes the secrets from both halves of a tool's result.
func (s *Server) redactCall(r *mcp.CallToolResult) {
	for _, c := range r.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			text.Text = s.redactText(text.Text)
		}
	}
	if data, ok := r.StructuredContent.(json.RawMessage); ok {
		r.StructuredContent = json.RawMessage(s.secrets.JSON(data))
	}
	if html, ok := r.Meta[drawing].(string); ok {
		r.Meta[drawing] = s.secrets.HTML(html)
	}
}

// redactText returns text without secrets. JSON stays JSON.
func (s *Server) redactText(text string) string {
	clean := s.secrets.Redact(text)
	if clean != text && json.Valid([]byte(text)) {
		return string(s.secrets.JSON([]byte(text)))
	}
	return clean
}

// cleaned returns copies of the elements of a list, after clean. The library keeps the elements.
func cleaned[T any](list []*T, clean func(*T)) []*T {
	copies := make([]*T, len(list))
	for i, e := range list {
		c := *e
		clean(&c)
		copies[i] = &c
	}
	return copies
}

// redactAll removes the secrets from texts.
func (s *Server) redactAll(texts ...*string) {
	for _, text := range texts {
		*text = s.secrets.Redact(*text)
	}
}

// redactSkill removes the secrets from a skill, which was created for the answer.
func (s *Server) redactSkill(k *skillEntry) {
	s.redactAll(&k.URI, &k.Frontmatter.Name, &k.Frontmatter.Description)
	for i := range k.Resources {
		s.redactAll(&k.Resources[i].URI)
	}
}

// redactError returns err without secrets, on one line.
func (s *Server) redactError(err error) error {
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok {
		clean := *e
		clean.Message = foreign.Notice(s.secrets.Redact(e.Message))
		clean.Data = s.secrets.JSON(e.Data)
		return &clean
	}
	if clean := foreign.Notice(s.secrets.Redact(err.Error())); clean != err.Error() {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: clean}
	}
	return err
}
