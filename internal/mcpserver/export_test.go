package mcpserver

// SchemaJSON is for tests.
var SchemaJSON = schemaJSON
