package export

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/command/skill"
)

// Client is an assistant's client that has commands in files.
type Client struct {
	// Name is its ID: "claude-code".
	Name string
	// Home means that the files are in the home directory, not in the workspace.
	Home bool

	// Optional means that there is something to write without a registry, too.
	Optional bool

	// skills means that a command is a directory with the file SKILL.md, and section that all
	// commands are in one section of AGENTS.md.
	skills, section bool

	directory string
	extension string
	comment   [2]string
	// argument returns the client's form of the argument with that position, from 1, and that name;
	// of all arguments for 0.
	argument func(position int, name string) string
	// text returns the file of a description, the names of arguments, and a prompt.
	text func(description string, arguments []string, prompt string) string
}

// Clients returns the known clients. Codex, Gemini CLI, opencode, Copilot CLI, and Qwen Code read
// the skills in .agents; Claude Code reads its own.
func Clients() []Client {
	html, toml := [2]string{"<!-- ", " -->"}, [2]string{"# ", ""}
	positional := func(position int, _ string) string {
		if position == 0 {
			return "$ARGUMENTS"
		}
		return fmt.Sprintf("$%d", position)
	}
	return []Client{
		{Name: "claude-code", directory: ".claude/commands", extension: ".md", comment: html, argument: positional, text: withHint},
		{Name: "codex", Home: true, directory: ".codex/prompts", extension: ".md", comment: html, argument: positional, text: withHint},
		{Name: "cursor", directory: ".cursor/commands", extension: ".md", comment: html, argument: spoken, text: bare},
		{Name: "gemini", directory: ".gemini/commands", extension: ".toml", comment: toml, argument: spokenArgs, text: inTOML},
		{Name: "opencode", directory: ".opencode/command", extension: ".md", comment: html, argument: positional, text: described},
		{Name: "vscode", directory: ".github/prompts", extension: ".prompt.md", comment: html, argument: input, text: asAgent},
		{Name: "skills", skills: true, directory: ".agents/skills", comment: html},
		{Name: "claude-skills", skills: true, directory: ".claude/skills", comment: html},
		{Name: "agents-md", Optional: true, section: true},
	}
}

// ByName returns the client with that name; the error lists all.
func ByName(name string) (Client, error) {
	var names []string
	for _, c := range Clients() {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	if name == "" {
		return Client{}, fmt.Errorf("name a client with --client: %s", strings.Join(names, ", "))
	}
	return Client{}, fmt.Errorf("unknown client %q; use %s", name, strings.Join(names, ", "))
}

// file returns the name of a command's file.
func (client Client) file(word string) string {
	if client.skills {
		return path.Join(client.directory, word, skill.File)
	}
	return path.Join(client.directory, word+client.extension)
}

// render returns the file of a command, without the mark. word is the name of the command there.
func (client Client) render(ctx context.Context, word string, c Command) (string, error) {
	if client.skills {
		prompt, err := c.Plain()
		if err != nil {
			return "", err
		}
		return skill.Document(word, c.Command, prompt) + "\n", nil
	}
	values := make(map[string]string)
	var arguments []string
	for i, v := range c.UV {
		values[v.Name] = client.argument(i+1, v.Name)
		arguments = append(arguments, v.Name)
	}
	if c.Options.Stdin {
		values["input_text"] = client.argument(0, "input")
		if len(arguments) == 0 {
			arguments = append(arguments, "input")
		}
	}
	prompt, err := c.Prompt(ctx, values)
	if err != nil {
		return "", err
	}
	return client.text(cleantext.Line(c.Description), arguments, prompt), nil
}

// mark names the origin of a file, and has the hash of the text before it.
func (client Client) mark(content string, c Command) string {
	return fmt.Sprintf("%scopse: from %s %s; a change is kept. sha256:%s%s\n", client.comment[0], c.Agent, c.ID, hash(content), client.comment[1])
}

func withHint(description string, arguments []string, prompt string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ndescription: %s\n", quoted(description))
	if len(arguments) > 0 {
		fmt.Fprintf(&b, "argument-hint: %s\n", quoted("["+strings.Join(arguments, "] [")+"]"))
	}
	fmt.Fprintf(&b, "---\n\n%s\n", prompt)
	return b.String()
}

func described(description string, _ []string, prompt string) string {
	return fmt.Sprintf("---\ndescription: %s\n---\n\n%s\n", quoted(description), prompt)
}

func asAgent(description string, _ []string, prompt string) string {
	return fmt.Sprintf("---\nmode: agent\ndescription: %s\n---\n\n%s\n", quoted(description), prompt)
}

func bare(description string, arguments []string, prompt string) string {
	if len(arguments) > 0 {
		prompt += "\nThe arguments of the command are: " + strings.Join(arguments, ", ") + ".\n"
	}
	return fmt.Sprintf("# %s\n\n%s\n", description, prompt)
}

// spoken is for clients that append the arguments to the prompt.
func spoken(position int, name string) string {
	if position == 0 {
		return "(the text after the command)"
	}
	return "(" + name + ", as given after the command)"
}

// spokenArgs is for clients that can put all arguments in one place.
func spokenArgs(position int, name string) string {
	if position == 0 {
		return "{{args}}"
	}
	return fmt.Sprintf("(%s, of these: {{args}})", name)
}

func input(_ int, name string) string { return "${input:" + name + "}" }

func inTOML(description string, _ []string, prompt string) string {
	escaped := strings.Map(func(r rune) rune {
		if r < ' ' && !slices.Contains([]rune("\n\t"), r) || r == 0x7f {
			return -1
		}
		return r
	}, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(prompt))
	return fmt.Sprintf("description = %s\nprompt = \"\"\"\n%s\"\"\"\n", quoted(description), escaped)
}

// quoted returns a string in quotes that YAML and TOML both read.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
