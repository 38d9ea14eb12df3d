package protocol

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes messages that no client should send.
type generator struct {
	random *rand.Rand
	modern bool
}

var (
	methods = []string{
		"tools/call", "tools/list", "ping", "resources/read", "resources/subscribe", "prompts/get", "completion/complete", "initialize", "server/discover",
		"notifications/cancelled", "notifications/progress", "logging/setLevel", "subscriptions/listen", "nothing/such", "", "tools/call\x00",
	}
	toolNames = []string{
		"show_item", "list_items", "read_file", "list_directory", "get_branch_tree", "search", "describe", "execute", "get_project_context", "no_such_tool", "",
	}
	values = []string{
		"null", "true", "-1", "0", "1e999", "99999999999999999999999", "0.1", `""`, `"\ud800"`, `"../../etc/passwd"`, `"\u0000"`, "[]", "{}", `[[]]`, `{"":{}}`,
		`"` + strings.Repeat("x", 3000) + `"`, `{"a":1,"a":2}`, `"` + "\xff\xfe" + `"`,
	}
	names = []string{"id", "path", "name", "branch", "query", "arguments", "uri", "cursor", "limit", "depth", "title", "task_name", "c1", "_meta", "progressToken", "requestId"}
)

func pick[T any](g *generator, from []T) T { return from[g.random.IntN(len(from))] }

// message returns one line without its end.
func (g *generator) message() []byte {
	switch g.random.IntN(12) {
	case 0:
		return g.noise(g.random.IntN(200))
	case 1:
		depth := 1 << uint(g.random.IntN(17))
		return []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth*g.random.IntN(2)))
	case 2:
		depth := 1 << uint(g.random.IntN(14))
		return []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth) + "}")
	case 3:
		return []byte(`{"jsonrpc":"2.0","id":` + pick(g, values) + `,"result":` + pick(g, values) + "}")
	case 4:
		return []byte("[" + string(g.request()) + "," + pick(g, values) + "," + string(g.request()) + "]")
	case 5:
		return g.broken(g.request())
	case 6:
		if g.random.IntN(40) == 0 { // now and then a very long one
			return []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"create_item","arguments":{"title":"` + strings.Repeat("long ", 1<<20) + `"}}}`)
		}
		return []byte(`{"jsonrpc":"1.0","id":3,"method":"ping"}`)
	}
	return g.request()
}

// request returns a request that is JSON, and wrong in what it says.
func (g *generator) request() []byte {
	var params []string
	if g.modern && g.random.IntN(4) > 0 {
		params = append(params, meta)
	}
	method := pick(g, methods)
	if method == "tools/call" {
		params = append(params, fmt.Sprintf(`"name":%q,"arguments":{%q:%s,%q:%s}`, pick(g, toolNames), pick(g, names), pick(g, values), pick(g, names), pick(g, values)))
	} else {
		params = append(params, fmt.Sprintf("%q:%s", pick(g, names), pick(g, values)))
	}
	id := fmt.Sprint(g.random.IntN(5)) // the same again and again
	if g.random.IntN(5) == 0 {
		id = pick(g, values)
	}
	return []byte(strings.ReplaceAll(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s}}`, id, method, strings.Join(params, ",")), "\n", " "))
}

// broken damages a message.
func (g *generator) broken(m []byte) []byte {
	m = bytes.Clone(m)
	for range 1 + g.random.IntN(4) {
		if len(m) == 0 {
			break
		}
		at := g.random.IntN(len(m))
		switch g.random.IntN(3) {
		case 0:
			m[at] = byte(g.random.IntN(256))
		case 1:
			m = m[:at]
		case 2:
			m = append(m[:at:at], append(g.noise(g.random.IntN(5)), m[at:]...)...)
		}
	}
	return bytes.ReplaceAll(m, []byte("\n"), []byte(" "))
}

func (g *generator) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.random.IntN(256))
	}
	return bytes.ReplaceAll(b, []byte("\n"), []byte("~"))
}
