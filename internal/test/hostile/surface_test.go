package hostile

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/cli/tic"
	"github.com/copse-dev/copse/internal/cli/twigmcp"
)

// invocation is a command line as a person types it.
type invocation struct {
	program string
	args    string
	// fails means that the command cannot succeed here, and what it says then.
	fails string
	// connects means that the person asks for a connection to the remote, wherever the
	// repository says that it is. Programs are another matter.
	connects bool
}

func (i invocation) String() string { return i.program + " " + i.args }

// engine is what the doctor rightly finds wrong here: no container engine answers.
const engine = "FAIL\tcontainers"

// commands are the command lines, in the order in which one sets up what the next needs.
// Each command of each program that runs anything has at least one. "{recipe}" is a
// harmless recipe, or a name that is none where the justfile is hostile.
var commands = []invocation{
	{program: "copse", args: "version"},
	{program: "copse", args: "init --branches --items --commands"},
	{program: "copse", args: "context"},
	{program: "copse", args: "context --fresh --json"},
	{program: "copse", args: "context --since c1aeaaaaaa"},
	{program: "copse", args: "branch adopt --json"},
	{program: "copse", args: "branch init"},
	{program: "copse", args: "branch track topic --parent main"},
	{program: "copse", args: "branch parent topic"},
	{program: "copse", args: "branch parent topic feature/login --add"},
	{program: "copse", args: "branch depend topic feature/login --add"},
	{program: "copse", args: "branch undepend topic feature/login"},
	{program: "copse", args: "branch unlink topic --pr"},
	{program: "copse", args: "branch link topic --pr 7"},
	{program: "copse", args: "branch prune"},
	{program: "copse", args: "branch prune --offline --yes"},
	{program: "copse", args: "branch untrack topic"},
	{program: "copse", args: "branch track topic --parent main"},
	{program: "copse", args: "branch link topic --jira PROJ-1 --pr 7"},
	{program: "copse", args: "branch list"},
	{program: "copse", args: "branch tree"},
	{program: "copse", args: "branch stack"},
	{program: "copse", args: "branch status --fresh"},
	{program: "copse", args: "branch trunk add topic"},
	{program: "copse", args: "branch trunk list"},
	{program: "copse", args: "branch trunk remove topic"},
	{program: "copse", args: "conflicts"},
	{program: "copse", args: "worktrees --json"},
	{program: "copse", args: "conflicts topic --json"},
	{program: "copse", args: "search plan"},
	{program: "copse", args: "search a --kind file,branch,recipe --json"},
	{program: "copse", args: "stack"},
	{program: "copse", args: "stack feature/login --fresh --json"},
	{program: "copse", args: "repo add ."},
	{program: "copse", args: "repo list"},
	{program: "copse", args: "repo remove ."},
	{program: "copse", args: "prompt init"},
	{program: "copse", args: "prompt index"},
	{program: "copse", args: "prompt list"},
	{program: "copse", args: "prompt search commit message"},
	{program: "copse", args: "prompt show git write commit-message"},
	{program: "copse", args: "prompt run git write commit-message --no-input"},
	{program: "copse", args: "prompt check", fails: "style"},
	{program: "copse", args: "prompt export --client claude-code"},
	{program: "copse", args: "prompt export --client skills"},
	{program: "copse", args: "prompt export --client agents-md"},
	{program: "copse", args: "task list"},
	{program: "copse", args: "task run {recipe}"},
	{program: "copse", args: "task ps"},
	{program: "copse", args: "task show nothing", fails: "No task run"},
	{program: "copse", args: "task stop nothing", fails: "nothing"},
	{program: "copse", args: "mcp config --client cursor"},
	{program: "copse", args: "mcp install --client cursor --scope project"},
	{program: "copse", args: "mcp doctor", fails: engine},
	{program: "copse", args: "mcp doctor --online", fails: engine},
	{program: "copse", args: "mcp hook --client claude-code"},
	{program: "copse", args: "prompt-line"},
	{program: "copse", args: "mcp uninstall --client cursor --scope project"},
	{program: "copse", args: "item init"},
	{program: "copse", args: "item init --merge-driver"},
	{program: "copse", args: "item create Fifth --parent 1"},
	{program: "copse", args: "item list"},
	{program: "copse", args: "item ready"},
	{program: "copse", args: "item search plan"},
	{program: "copse", args: "item show 1"},
	{program: "copse", args: "item tree"},
	{program: "copse", args: "item update 2 --status done"},
	{program: "copse", args: "item comment 2 done"},
	{program: "copse", args: "item open 2"},
	{program: "copse", args: "item link 2 --branch main"},
	{program: "copse", args: "item start 2"},
	{program: "copse", args: "item claim 1"},
	{program: "copse", args: "item claim 1 --steal --lease 5m"},
	{program: "copse", args: "item release 1"},
	{program: "copse", args: "item log 2"},
	{program: "copse", args: "item log"},
	{program: "copse", args: "item undo 2"},
	{program: "copse", args: "item delete 3 --yes"},
	{program: "copse", args: "item trash list"},
	{program: "copse", args: "item restore 3"},
	{program: "copse", args: "item delete 8 --yes"},
	{program: "copse", args: "item trash purge 8 --yes"},
	{program: "copse", args: "item doctor"},
	{program: "copse", args: "item doctor --repair --add"},
	{program: "copse", args: "item config get"},
	{program: "copse", args: "item iteration set next"},
	{program: "copse", args: "item config set current_iteration next"},
	{program: "copse", args: "item iteration list"},
	{program: "copse", args: "item migrate", fails: "are in files"},
	{program: "tic", args: "migrate", fails: "are in files"},
	{program: "copse", args: "item move --to local", fails: "are already there"},
	{program: "tic", args: "move --to local", fails: "are already there"},
	{program: "tic", args: "init"},
	{program: "tic", args: "item create Sixth --iteration next"},
	{program: "tic", args: "item list"},
	{program: "tic", args: "item ready"},
	{program: "tic", args: "item search plan"},
	{program: "tic", args: "item show 1"},
	{program: "tic", args: "item tree"},
	{program: "tic", args: "item update 2 --status done"},
	{program: "tic", args: "item comment 2 again"},
	{program: "tic", args: "item open 2"},
	{program: "tic", args: "item link 2 --pr 7"},
	{program: "tic", args: "item start 2"},
	{program: "tic", args: "item claim 1"},
	{program: "tic", args: "item release 1"},
	{program: "tic", args: "item log 2"},
	{program: "tic", args: "item undo 2"},
	{program: "tic", args: "item delete 3 --yes"},
	{program: "tic", args: "item trash list"},
	{program: "tic", args: "item restore 3"},
	{program: "tic", args: "item delete 9 --yes"},
	{program: "tic", args: "item trash purge 9 --yes"},
	{program: "copse", args: "item merge-driver .tic/items/1.md .tic/items/1.md .tic/items/1.md .tic/items/1.md"},
	{program: "tic", args: "merge-driver .tic/items/1.md .tic/items/1.md .tic/items/1.md .tic/items/1.md"},
	{program: "tic", args: "doctor"},
	{program: "tic", args: "config get"},
	{program: "tic", args: "iteration set last"},
	{program: "tic", args: "config set current_iteration last"},
	{program: "tic", args: "iteration list"},
}

// sharing are the command lines that need a store of items outside the working tree.
// They come last, when the one in the working tree is gone.
var sharing = []invocation{
	{program: "copse", args: "item init --shared"},
	{program: "copse", args: "item create First"},
	{program: "copse", args: "item sync", connects: true, fails: "waiting"},
	{program: "tic", args: "item create Second"},
	{program: "tic", args: "sync", connects: true, fails: "waiting"},
	// A claim in a store that was synced asks the remote.
	{program: "copse", args: "item start 1 --worktree --run --branch hostile-start", connects: true},
	{program: "tic", args: "item start 2 --run --branch hostile-switch", connects: true},
	{program: "copse", args: "item create Third"},
	{program: "copse", args: "item start 3 --run --branch hostile-base --base main", connects: true},
	{program: "copse", args: "item release 3", connects: true},
	{program: "tic", args: "item start 2 --run --branch hostile-switch", connects: true},
}

// served are the commands that run until they are stopped, or need one that does: the
// sessions below and [up] try them.
var served = []string{
	"copse mcp serve", "tic mcp serve", "twig-mcp", "copse up", "copse board", "copse down", "copse open", "copse close", "copse status",
	// The long forms are the same functions.
	"copse server up", "copse server down", "copse server open", "copse server close", "copse server status",
}

// call is a call of a tool.
type call struct {
	name, args string
	// fails is what the tool says where it cannot succeed.
	fails string
}

// tools are the arguments of each tool, in an order that works. A tool that has several
// lines is called several times. "{recipe}" is as in commands, "{doomed}" an item that
// nothing else needs. "{recipe}" is as in commands, "{doomed}" an item that
// nothing else needs.
var tools = []call{
	{name: "get_current_branch", args: `{}`},
	{name: "get_branch_metadata", args: `{"branch":"feature/login"}`},
	{name: "get_branch_tree", args: `{}`},
	{name: "get_branch_stack", args: `{}`},
	{name: "list_branches", args: `{}`},
	{name: "get_stack_status", args: `{}`},
	{name: "get_stack_status", args: `{"branch":"feature/login","fresh":true}`},
	{name: "list_repositories", args: `{}`},
	{name: "get_worktrees", args: `{}`},
	{name: "get_conflicts", args: `{}`},
	{name: "get_pull_request", args: `{}`},
	{name: "get_pr_status", args: `{}`},
	{name: "list_pull_requests", args: `{}`},
	{name: "get_jira_issue", args: `{}`},
	{name: "list_jira_issues", args: `{"project":"PROJ"}`},
	{name: "init_project", args: `{}`},
	{name: "get_config", args: `{}`},
	{name: "list_items", args: `{}`},
	{name: "show_item", args: `{"id":1}`},
	{name: "create_item", args: `{"title":"Seventh"}`},
	{name: "update_item", args: `{"id":2,"title":"Built"}`},
	{name: "claim_item", args: `{"id":1,"lease_minutes":5}`},
	{name: "claim_item", args: `{}`},
	{name: "release_item", args: `{"id":1}`},
	{name: "delete_item", args: `{"id":{doomed}}`},
	{name: "confirm_delete", args: `{"id":{doomed}}`},
	{name: "add_comment", args: `{"id":1,"text":"hello"}`},
	{name: "set_iteration", args: `{"name":"soon"}`},
	{name: "search_items", args: `{"query":"plan","all":true}`},
	{name: "get_children", args: `{"id":1}`},
	{name: "get_dependents", args: `{"id":1}`},
	{name: "get_item_tree", args: `{}`},
	{name: "search", args: `{"query":"commit"}`},
	{name: "describe", args: `{"c1":"git","c2":"write","c3":"commit-message"}`},
	{name: "execute", args: `{"agent":"climpt","c1":"git","c2":"write","c3":"commit-message"}`},
	{name: "reload", args: `{}`},
	{name: "read_file", args: `{"path":"a.txt"}`},
	{name: "read_file", args: `{"path":".gitmodules"}`},
	{name: "list_directory", args: `{"path":".","depth":3}`},
	{name: "get_project_context", args: `{"max_tokens":8000}`},
	{name: "get_project_context", args: `{"fresh":true}`},
	{name: "get_project_context", args: `{"since":"c1aeaaaaaa","sections":["stack","items","git","tree"]}`},
	{name: "search_all", args: `{"query":"a"}`},
	{name: "search_all", args: `{"query":"plan","kinds":["item","file","recipe"],"limit":100}`},
	{name: "run_just_task", args: `{"task_name":"{recipe}"}`},
	{name: "run_just_task", args: `{"task_name":"{recipe}","background":true}`},
	{name: "get_task", args: `{"id":"nothing"}`, fails: "task run"},
	{name: "stop_task", args: `{"id":"nothing"}`, fails: "nothing"},
}

// prompts are the arguments of the prompts that need some.
var prompts = map[string]string{"branch-context": `{"branch":"feature/login"}`}

// resources are an address of each template.
var resources = map[string]string{
	"climpt://{agent}/{c1}/{c2}/{c3}": "climpt://climpt/git/write/commit-message",
	"skill://{name}/SKILL.md":         "skill://git-write-commit-message/SKILL.md",
	"tic://item/{id}":                 "tic://item/1",
	"twig://branch/{name}/context":    "twig://branch/feature%2Flogin/context",
}

// Every command that does anything is in the tables.
func TestEveryCommandIsTried(t *testing.T) {
	t.Parallel()
	for name, root := range programs() {
		for _, path := range leaves(root, name) {
			tried := slices.ContainsFunc(slices.Concat(commands, sharing), func(i invocation) bool { return strings.HasPrefix(i.String()+" ", path+" ") })
			if !tried && !slices.Contains(served, path) {
				t.Errorf("no hostile repository is tried with %q: add a line to the table commands in surface_test.go, "+
					"or to served if it runs until it is stopped, and try it in up", path)
			}
		}
	}
}

func programs() map[string]*cobra.Command {
	env := app.EmptyEnv()
	return map[string]*cobra.Command{"copse": copse.Command(env), "tic": tic.Command(env), "twig-mcp": twigmcp.Command(env)}
}

// leaves returns the paths of the commands below c that are not mere groups.
func leaves(c *cobra.Command, path string) []string {
	if !c.HasSubCommands() {
		return []string{path}
	}
	var found []string
	for _, sub := range c.Commands() {
		found = append(found, leaves(sub, path+" "+sub.Name())...)
	}
	return found
}

// completions returns command lines that ask the shell's question for each command and for each
// flag that offers values.
func completions() []invocation {
	var asked []invocation
	for name, root := range programs() {
		for _, path := range leaves(root, name) {
			_, args, _ := strings.Cut(path, " ")
			cmd, _, err := root.Find(strings.Fields(args))
			if err == nil && cmd.ValidArgsFunction != nil {
				asked = append(asked, invocation{program: name, args: strings.TrimSpace("__complete " + args + " ")})
			}
		}
	}
	slices.SortFunc(asked, func(a, b invocation) int { return strings.Compare(a.String(), b.String()) })
	return asked
}
