package toolset

import "encoding/json"

// View is how clients that show views show the answers of a tool. Nothing else of the tool
// depends on it.
type View struct {
	// URI is that of the [Page] that the client opens beside an answer; "" where the page of
	// another tool shows the answer.
	URI string
	// Draw returns HTML of the structured half of an answer, with every foreign text escaped.
	Draw func(structured json.RawMessage) (string, error)
}

// Page is a document that a client shows, and that needs nothing else.
type Page struct {
	// URI begins with ui://.
	URI         string
	Name        string
	Title       string
	Description string
	HTML        func() string
}
