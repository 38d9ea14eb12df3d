package model

import (
	"encoding/json"
	"io"
)

// anthropic is the Messages API.
type anthropic struct{}

func (anthropic) read(body []byte) (tools, results []string, err error) {
	var r struct {
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, nil, err
	}
	for _, t := range r.Tools {
		tools = append(tools, t.Name)
	}
	for _, m := range r.Messages {
		var blocks []struct {
			Type    string
			Content json.RawMessage
		}
		if json.Unmarshal(m.Content, &blocks) != nil {
			continue // it is a text
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				results = append(results, text(b.Content))
			}
		}
	}
	return tools, results, nil
}

func (anthropic) answer(w io.Writer, n int, call Call, ok, stream bool) {
	block, reason := object{"type": "text", "text": done}, "end_turn"
	delta := object{"type": "text_delta", "text": done}
	if ok {
		block, reason = object{"type": "tool_use", "id": id(n), "name": call.Tool, "input": json.RawMessage(call.Args)}, "tool_use"
		delta = object{"type": "input_json_delta", "partial_json": call.Args}
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	message := object{"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": []any{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	if !stream {
		message["content"], message["stop_reason"] = []any{block}, reason
		whole(w, message)
		return
	}
	empty := object{"type": "text", "text": ""}
	if ok {
		empty = object{"type": "tool_use", "id": id(n), "name": call.Tool, "input": object{}}
	}
	event(w, "message_start", object{"type": "message_start", "message": message})
	event(w, "content_block_start", object{"type": "content_block_start", "index": 0, "content_block": empty})
	event(w, "content_block_delta", object{"type": "content_block_delta", "index": 0, "delta": delta})
	event(w, "content_block_stop", object{"type": "content_block_stop", "index": 0})
	event(w, "message_delta", object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": usage})
	event(w, "message_stop", object{"type": "message_stop"})
}

// responses is the Responses API of OpenAI.
type responses struct{ namespace string }

func (responses) read(body []byte) (tools, results []string, err error) {
	type tool struct {
		Name  string
		Tools []struct{ Name string }
	}
	var r struct {
		Tools []tool
		Input []struct {
			Type   string
			Output json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, nil, err
	}
	for _, t := range r.Tools {
		if len(t.Tools) == 0 {
			tools = append(tools, t.Name)
		}
		for _, inner := range t.Tools {
			tools = append(tools, t.Name+inner.Name)
		}
	}
	for _, i := range r.Input {
		if i.Type == "function_call_output" {
			results = append(results, text(i.Output))
		}
	}
	return tools, results, nil
}

func (d responses) answer(w io.Writer, n int, call Call, ok, _ bool) {
	item := object{"type": "message", "role": "assistant", "id": "item_1", "content": []any{object{"type": "output_text", "text": done}}}
	if ok {
		item = object{"type": "function_call", "id": "item_1", "call_id": id(n), "name": call.Tool, "arguments": call.Args}
		if d.namespace != "" && !call.Own {
			item["namespace"] = d.namespace
		}
	}
	usage := object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
	event(w, "response.created", object{"type": "response.created", "response": object{"id": "resp_1"}})
	event(w, "response.output_item.done", object{"type": "response.output_item.done", "output_index": 0, "item": item})
	event(w, "response.completed", object{"type": "response.completed", "response": object{"id": "resp_1", "usage": usage}})
}

// chat is the Chat Completions API of OpenAI.
type chat struct{}

func (chat) read(body []byte) (tools, results []string, err error) {
	var r struct {
		Tools []struct {
			Function struct{ Name string }
		}
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, nil, err
	}
	for _, t := range r.Tools {
		tools = append(tools, t.Function.Name)
	}
	for _, m := range r.Messages {
		if m.Role == "tool" {
			results = append(results, text(m.Content))
		}
	}
	return tools, results, nil
}

func (chat) answer(w io.Writer, n int, call Call, ok, stream bool) {
	message, reason := object{"role": "assistant", "content": done}, "stop"
	if ok {
		reason = "tool_calls"
		message = object{"role": "assistant", "content": nil, "tool_calls": []any{object{
			"index": 0, "id": id(n), "type": "function", "function": object{"name": call.Tool, "arguments": call.Args},
		}}}
	}
	usage := object{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	if !stream {
		whole(w, object{"id": "chat_1", "object": "chat.completion", "model": "fake", "choices": []any{object{"index": 0, "message": message, "finish_reason": reason}}, "usage": usage})
		return
	}
	chunk := func(delta object, reason any) {
		event(w, "", object{"id": "chat_1", "object": "chat.completion.chunk", "model": "fake", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}}})
	}
	chunk(message, nil)
	chunk(object{}, reason)
	event(w, "", object{"id": "chat_1", "object": "chat.completion.chunk", "model": "fake", "choices": []any{}, "usage": usage})
	_, _ = io.WriteString(w, "data: [DONE]\n\n") // a program that hangs up misses nothing
}

// google is generateContent of Gemini.
type google struct{}

func (google) read(body []byte) (tools, results []string, err error) {
	var r struct {
		Tools []struct {
			FunctionDeclarations []struct{ Name string }
		}
		Contents []struct {
			Parts []struct {
				FunctionResponse *struct{ Response map[string]json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, nil, err
	}
	for _, t := range r.Tools {
		for _, f := range t.FunctionDeclarations {
			tools = append(tools, f.Name)
		}
	}
	for _, c := range r.Contents {
		for _, p := range c.Parts {
			if p.FunctionResponse == nil {
				continue
			}
			said := p.FunctionResponse.Response["output"]
			if said == nil {
				said = p.FunctionResponse.Response["error"]
			}
			results = append(results, text(said))
		}
	}
	return tools, results, nil
}

func (google) answer(w io.Writer, n int, call Call, ok, stream bool) {
	part := object{"text": done}
	if ok {
		part = object{"functionCall": object{"id": id(n), "name": call.Tool, "args": json.RawMessage(call.Args)}}
	}
	said := object{
		"candidates":    []any{object{"index": 0, "content": object{"role": "model", "parts": []any{part}}, "finishReason": "STOP"}},
		"usageMetadata": object{"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
	}
	if stream {
		event(w, "", said)
		return
	}
	whole(w, said)
}
