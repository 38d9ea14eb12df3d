//nolint:staticcheck // the suite tests what is deprecated, too
package mcpserver_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/copse-dev/copse/internal/mcpserver"
	"github.com/copse-dev/copse/internal/toolset"
)

// The conformance suite needs tools, prompts and resources of given names that use every part of
// the protocol, most of which no toolset of copse needs. They are added to our server here, and are
// in no program.

// pixel is a red one, as a PNG.
var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82")

// silence is a WAV file without a sample.
var silence = []byte("RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00")

// fixtureSet returns what toolsets can have of it.
func fixtureSet() toolset.Toolset {
	complete := func(_ context.Context, prefix string, _ map[string]string) ([]string, error) {
		var fit []string
		for _, word := range []string{"paris", "park", "party"} {
			if strings.HasPrefix(word, prefix) {
				fit = append(fit, word)
			}
		}
		return fit, nil
	}
	text := func(s string) func(context.Context) (string, error) {
		return func(context.Context) (string, error) { return s, nil }
	}
	return toolset.Toolset{
		Name: "fixtures", Jobs: noJobs{},
		Prompts: []toolset.Prompt{
			{
				Name: "test_simple_prompt", Description: "A prompt without arguments.",
				Get: func(context.Context, map[string]string) (string, error) {
					return "This is a simple prompt for testing.", nil
				},
			},
			{
				Name: "test_prompt_with_arguments", Description: "A prompt with arguments.",
				Arguments: []toolset.Argument{
					{Name: "arg1", Description: "First.", Required: true, Complete: complete},
					{Name: "arg2", Description: "Second.", Required: true},
				},
				Get: func(_ context.Context, args map[string]string) (string, error) {
					return fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]), nil
				},
			},
		},
		Resources: []toolset.Resource{
			{
				URI: "test://static-text", Name: "static-text", Description: "A text.", MIMEType: "text/plain",
				Read: text("This is the content of the static text resource."),
			},
			{
				URI: "test://watched-resource", Name: "watched", Description: "One that can be watched.", MIMEType: "text/plain", Read: text("watched"),
				Watch: func(ctx context.Context, _ func()) error {
					<-ctx.Done()
					return nil
				},
			},
		},
		Templates: []toolset.Template{{
			URITemplate: "test://template/{id}/data", Name: "template", Description: "A family of texts.", MIMEType: "application/json",
			Variables: []toolset.Argument{{Name: "id", Description: "Which one."}},
			Read: func(_ context.Context, values map[string]string) (string, error) {
				return fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, values["id"], values["id"]), nil
			},
		}},
	}
}

// addFixtures adds the rest.
func addFixtures(s *mcpserver.Server) {
	lib := s.Library()
	for name, content := range map[string][]mcp.Content{
		"test_simple_text":       {&mcp.TextContent{Text: "This is a simple text response for testing."}},
		"test_image_content":     {&mcp.ImageContent{Data: pixel, MIMEType: "image/png"}},
		"test_audio_content":     {&mcp.AudioContent{Data: silence, MIMEType: "audio/wav"}},
		"test_embedded_resource": {embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")},
		"test_multiple_content_types": {
			&mcp.TextContent{Text: "Multiple content types test:"},
			&mcp.ImageContent{Data: pixel, MIMEType: "image/png"},
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		},
	} {
		addTool(lib, name, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: content}, nil
		})
	}
	addTool(lib, "test_error_handling", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res := said("This tool intentionally returns an error for testing")
		res.IsError = true
		return res, nil
	})
	addTool(lib, "test_tool_with_progress", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, done := range []float64{0, 50, 100} {
			if token := req.Params.GetProgressToken(); token != nil {
				if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: done, Total: 100}); err != nil {
					return nil, err
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
		return said("done"), nil
	})
	for _, name := range []string{"test_tool_with_logging", "test_logging_tool"} {
		addTool(lib, name, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for _, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
				if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: text}); err != nil {
					return nil, err
				}
				time.Sleep(50 * time.Millisecond)
			}
			return said("logged"), nil
		})
	}
	addDialogues(lib)
	addInputRequired(lib)
	addTasks(s)
	addTool(lib, "test_missing_capability", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if caps := req.ClientCapabilities(); caps == nil || caps.Sampling == nil {
			return nil, &jsonrpc.Error{Code: -32021, Message: "sampling is needed", Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`)}
		}
		return said("there"), nil
	})
	addTool(lib, "test_trigger_prompt_change", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		lib.AddPrompt(&mcp.Prompt{Name: "late", Description: "One more."}, nil)
		return said("changed"), nil
	})

	lib.AddResource(&mcp.Resource{URI: "test://static-binary", Name: "static-binary", Description: "A picture.", MIMEType: "image/png"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "image/png", Blob: pixel}}}, nil
		})
	addPrompt(lib, "test_prompt_with_embedded_resource", []*mcp.PromptArgument{{Name: "resourceUri", Description: "Which.", Required: true}},
		func(req *mcp.GetPromptRequest) *mcp.GetPromptResult {
			return messages(embedded(req.Params.Arguments["resourceUri"], "text/plain", "Embedded resource content for testing."),
				&mcp.TextContent{Text: "Please process the embedded resource above."})
		})
	addPrompt(lib, "test_prompt_with_image", nil, func(*mcp.GetPromptRequest) *mcp.GetPromptResult {
		return messages(&mcp.ImageContent{Data: pixel, MIMEType: "image/png"}, &mcp.TextContent{Text: "Please analyze the image above."})
	})
	addPrompt(lib, "test_input_required_result_prompt", nil, func(req *mcp.GetPromptRequest) *mcp.GetPromptResult {
		if answer, ok := req.Params.InputResponses["user_context"].(*mcp.ElicitResult); ok {
			return messages(&mcp.TextContent{Text: fmt.Sprint("Context: ", answer.Content["context"])})
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{"user_context": ask("What context should the prompt use?", "context", "string")}}
	})
}

// addDialogues adds tools that ask the client while it waits.
func addDialogues(lib *mcp.Server) {
	addTool(lib, "test_sampling", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var args struct{ Prompt string }
		if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
			return nil, err
		}
		answer, err := req.Session.CreateMessage(ctx, sample(args.Prompt, 100))
		if err != nil {
			return nil, err
		}
		text, ok := answer.Content.(*mcp.TextContent)
		if !ok {
			return nil, errors.New("the answer is no text")
		}
		return said("LLM response: " + text.Text), nil
	})
	elicit := func(name, format string, params func(args json.RawMessage) *mcp.ElicitParams) {
		addTool(lib, name, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer, err := req.Session.Elicit(ctx, params(req.Params.Arguments))
			if err != nil {
				return nil, err
			}
			content, err := json.Marshal(answer.Content)
			if err != nil {
				return nil, err
			}
			return said(fmt.Sprintf(format, answer.Action, content)), nil
		})
	}
	elicit("test_elicitation", "User response: action: %s, content: %s", func(args json.RawMessage) *mcp.ElicitParams {
		var in struct{ Message string }
		_ = json.Unmarshal(args, &in) // the suite sends one
		return form(in.Message, `{"type":"object","properties":{"username":{"type":"string","description":"User's response"},`+
			`"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`)
	})
	const completed = "Elicitation completed: action=%s, content=%s"
	elicit("test_elicitation_sep1034_defaults", completed, func(json.RawMessage) *mcp.ElicitParams {
		return form("Defaults of all types", `{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},`+
			`"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},`+
			`"verified":{"type":"boolean","default":true}}}`)
	})
	elicit("test_elicitation_sep1330_enums", completed, func(json.RawMessage) *mcp.ElicitParams {
		return form("All kinds of choices", `{"type":"object","properties":{`+
			`"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},`+
			`"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},`+
			`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},`+
			`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},`+
			`"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`)
	})
}

// addInputRequired adds tools that answer with questions, which the client answers with
// the next call.
func addInputRequired(lib *mcp.Server) {
	// round is what a tool says to the answers of the round before.
	type round func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error)
	add := func(name string, r round) {
		addTool(lib, name, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return r(req) })
	}
	asked := func(state string, requests mcp.InputRequestMap) (*mcp.CallToolResult, error) {
		if state != "" {
			state = seal(state)
		}
		return &mcp.CallToolResult{InputRequests: requests, RequestState: state}, nil
	}
	name := func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, ok := req.Params.InputResponses["user_name"].(*mcp.ElicitResult)
		if given, isText := valueOf(answer, "name"); ok && isText {
			return said("Hello, " + given + "!"), nil
		}
		return asked("", mcp.InputRequestMap{"user_name": ask("What is your name?", "name", "string")})
	}
	add("test_input_required_result_elicitation", name)
	add("test_streaming_elicitation", name)
	add("test_input_required_result_sampling", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer := req.Params.InputResponses["capital_question"]; answer != nil {
			return saidOf(answer)
		}
		return asked("", mcp.InputRequestMap{"capital_question": sample("What is the capital of France?", 100)})
	})
	add("test_input_required_result_list_roots", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer := req.Params.InputResponses["client_roots"]; answer != nil {
			return saidOf(answer)
		}
		return asked("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}})
	})
	for _, name := range []string{"test_input_required_result_request_state", "test_input_required_result_tampered_state"} {
		add(name, func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if req.Params.InputResponses == nil && req.Params.RequestState == "" {
				return asked("first", mcp.InputRequestMap{"confirm": ask("Please confirm", "ok", "boolean")})
			}
			if state, err := unseal(req.Params.RequestState); err != nil || state != "first" {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState is not what was sent"}
			}
			return said("state-ok"), nil
		})
	}
	add("test_input_required_result_multiple_inputs", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(req.Params.InputResponses) >= 3 {
			if _, err := unseal(req.Params.RequestState); err != nil {
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
			}
			return said("all there"), nil
		}
		return asked("many", mcp.InputRequestMap{
			"user_name": ask("What is your name?", "name", "string"), "greeting": sample("Generate a greeting", 50), "client_roots": &mcp.ListRootsParams{},
		})
	})
	add("test_input_required_result_multi_round", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		state, _ := unseal(req.Params.RequestState) // "" begins again
		if req.Params.InputResponses["step2"] != nil && state == "two" {
			return said("done after two steps"), nil
		}
		if req.Params.InputResponses["step1"] != nil && state == "one" {
			return asked("two", mcp.InputRequestMap{"step2": ask("Step 2: What is your favorite color?", "color", "string")})
		}
		return asked("one", mcp.InputRequestMap{"step1": ask("Step 1: What is your name?", "name", "string")})
	})
	add("test_input_required_result_capabilities", func(req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		caps, requests := req.ClientCapabilities(), mcp.InputRequestMap{}
		if caps != nil && caps.Sampling != nil {
			requests["sample"] = sample("Say something", 10)
		}
		if caps != nil && caps.Elicitation != nil {
			requests["elicit"] = ask("Say something", "text", "string")
		}
		if len(requests) == 0 {
			return said("nothing can be asked"), nil
		}
		return asked("", requests)
	})
}

func addTool(lib *mcp.Server, name string, h mcp.ToolHandler) {
	lib.AddTool(&mcp.Tool{Name: name, Description: "For the conformance suite.", InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
}

func addPrompt(lib *mcp.Server, name string, args []*mcp.PromptArgument, get func(*mcp.GetPromptRequest) *mcp.GetPromptResult) {
	lib.AddPrompt(&mcp.Prompt{Name: name, Description: "For the conformance suite.", Arguments: args},
		func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) { return get(req), nil })
}

func said(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// saidOf says an answer of the client back.
func saidOf(answer any) (*mcp.CallToolResult, error) {
	data, err := json.Marshal(answer)
	return said(string(data)), err
}

func embedded(uri, media, text string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: media, Text: text}}
}

func messages(content ...mcp.Content) *mcp.GetPromptResult {
	res := &mcp.GetPromptResult{}
	for _, c := range content {
		res.Messages = append(res.Messages, &mcp.PromptMessage{Role: "user", Content: c})
	}
	return res
}

func sample(text string, tokens int64) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: tokens, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}
}

func form(message, schema string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

func ask(message, field, kind string) *mcp.ElicitParams {
	return form(message, fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field))
}

func valueOf(answer *mcp.ElicitResult, field string) (string, bool) {
	if answer == nil {
		return "", false
	}
	text, ok := answer.Content[field].(string)
	return text, ok
}

// seal keeps a state from being changed by the client that carries it.
func seal(state string) string { return state + "." + mac(state) }

func unseal(sealed string) (string, error) {
	state, sum, _ := strings.Cut(sealed, ".")
	if !hmac.Equal([]byte(sum), []byte(mac(state))) {
		return "", errors.New("requestState is not what was sent")
	}
	return state, nil
}

func mac(state string) string {
	h := hmac.New(sha256.New, []byte("a key for tests"))
	_, _ = h.Write([]byte(state)) // a hash takes everything
	return hex.EncodeToString(h.Sum(nil))
}

// fixtureServer returns our server with everything that the suite needs.
func fixtureServer() *mcpserver.Server {
	s := mcpserver.New(mcpserver.Options{Name: "copse", Version: "0", Toolsets: []toolset.Toolset{fixtureSet()}, Logger: slog.New(slog.DiscardHandler)})
	addFixtures(s)
	return s
}
