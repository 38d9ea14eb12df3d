package main

// entry is the server.json of the MCP registry, of the schema of 2025-12-11.
type entry struct {
	Schema      string            `json:"$schema"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Version     string            `json:"version"`
	Repository  map[string]string `json:"repository"`
	Packages    []pkg             `json:"packages"`
}

type pkg struct {
	RegistryType         string            `json:"registryType"`
	Identifier           string            `json:"identifier"`
	Version              string            `json:"version,omitempty"`
	FileSHA256           string            `json:"fileSha256,omitempty"`
	RuntimeHint          string            `json:"runtimeHint,omitempty"`
	Transport            map[string]string `json:"transport"`
	RuntimeArguments     []argument        `json:"runtimeArguments,omitempty"`
	PackageArguments     []argument        `json:"packageArguments,omitempty"`
	EnvironmentVariables []variable        `json:"environmentVariables,omitempty"`
}

type argument struct {
	Type        string              `json:"type"`
	Name        string              `json:"name,omitempty"`
	Value       string              `json:"value,omitempty"`
	Description string              `json:"description,omitempty"`
	IsRequired  bool                `json:"isRequired,omitempty"`
	Variables   map[string]variable `json:"variables,omitempty"`
}

type variable struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description"`
	Format      string `json:"format,omitempty"`
	IsRequired  bool   `json:"isRequired,omitempty"`
	IsSecret    bool   `json:"isSecret,omitempty"`
}

// variables returns the environment variables of the server. All of them are optional.
func variables() []variable {
	return []variable{
		{Name: "GITHUB_TOKEN", Description: "A token for GitHub, if neither ~/.netrc nor gh has a login", IsSecret: true},
		{Name: "JIRA_HOST", Description: "The URL of your Jira, such as https://acme.atlassian.net"},
		{Name: "JIRA_EMAIL", Description: "Jira Cloud: the email address of your account"},
		{Name: "JIRA_TOKEN", Description: "Jira Cloud: an API token", IsSecret: true},
		{Name: "JIRA_PAT", Description: "Jira Data Center: a personal access token", IsSecret: true},
	}
}

// writeRegistry writes the entry of the MCP registry: the npm package, the image, and a
// bundle for each platform.
func writeRegistry(path, version string, bundles []bundle) error {
	stdio := map[string]string{"type": "stdio"}
	serve := []argument{{Type: "positional", Value: "mcp"}, {Type: "positional", Value: "serve"}}
	e := entry{
		Schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:   registryID, Title: title, Description: description, Version: version,
		Repository: map[string]string{"url": repository, "source": "github"},
		Packages: []pkg{
			{
				RegistryType: "npm", Identifier: scope + "/" + name, Version: version, RuntimeHint: "npx", Transport: stdio,
				PackageArguments: serve, EnvironmentVariables: variables(),
			},
			{
				RegistryType: "oci", Identifier: image + ":" + version, RuntimeHint: "docker", Transport: stdio,
				RuntimeArguments: []argument{{
					Type: "named", Name: "--mount", Value: "type=bind,src={repository},dst=/repository", IsRequired: true,
					Description: "Mounts the repository that the server serves",
					Variables:   map[string]variable{"repository": {Description: "The directory of the repository", Format: "filepath", IsRequired: true}},
				}},
				EnvironmentVariables: variables(),
			},
		},
	}
	for _, b := range bundles {
		e.Packages = append(e.Packages, pkg{
			RegistryType: "mcpb", Identifier: repository + "/releases/download/v" + version + "/" + b.file, FileSHA256: b.sum, Transport: stdio,
		})
	}
	return writeJSON(path, e)
}
