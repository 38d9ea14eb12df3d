package copse_test

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Clients with many tools show a model their names alone and let it search for the rest. The
// search is lexical: a tool is found by the words that people use, or not at all.

// requests are what people ask for, in their words, with the tools that answer it.
var requests = []struct{ text, tools string }{
	{"which branch am I on", "get_current_branch"},
	{"what issue is linked to the current branch", "get_current_branch"},
	{"what am I working on right now", "get_current_branch get_project_context"},
	{"parent branch of feature/login", "get_branch_metadata get_branch_stack"},
	{"draw the tree of stacked branches", "get_branch_tree"},
	{"how do my branches depend on each other", "get_branch_tree"},
	{"what is my branch stacked on", "get_branch_stack"},
	{"list all tracked branches", "list_branches"},
	{"which repositories does twig know", "list_repositories"},
	{"which branches conflict with each other", "get_conflicts"},
	{"can my stack be merged, and what blocks each branch", "get_stack_status"},
	{"list git worktrees", "get_worktrees"},
	{"where is the other checkout of this repository", "get_worktrees"},
	{"show the description of pull request 42", "get_pull_request"},
	{"who are the reviewers of my PR", "get_pull_request get_pr_status"},
	{"why can my pull request not be merged", "get_pr_status"},
	{"is CI green", "get_pr_status"},
	{"which checks are failing, show me the log", "get_pr_status"},
	{"unresolved review comments on my PR", "get_pr_status"},
	{"list open pull requests", "list_pull_requests"},
	{"show merged PRs", "list_pull_requests"},
	{"read the Jira ticket PROJ-12", "get_jira_issue"},
	{"comments on the Jira issue", "get_jira_issue"},
	{"find Jira tickets assigned to me", "list_jira_issues"},
	{"bugs in the Jira project that are in progress", "list_jira_issues"},
	{"create a todo", "create_item"},
	{"add a task for fixing the login", "create_item"},
	{"new work item", "create_item"},
	{"open a ticket for this bug", "create_item"},
	{"mark task 3 as done", "update_item"},
	{"assign item 5 to ada", "update_item"},
	{"change the priority of a ticket", "update_item"},
	{"show details of item 7", "show_item"},
	{"list todos that are ready to start", "list_items"},
	{"which tasks are open in this sprint", "list_items"},
	{"find a work item about passwords", "search_items"},
	{"search tickets for the word timeout", "search_items"},
	{"subtasks of item 2", "get_children"},
	{"what is blocked by item 4", "get_dependents"},
	{"show the backlog as a tree", "get_item_tree"},
	{"hierarchy of tasks below an epic", "get_item_tree"},
	{"delete a task", "delete_item confirm_delete"},
	{"confirm the deletion of item 3", "confirm_delete"},
	{"comment on item 3", "add_comment"},
	{"add a note to the ticket", "add_comment"},
	{"switch to the next sprint", "set_iteration"},
	{"allowed statuses and types", "get_config"},
	{"set up an issue tracker in this project", "init_project"},
	{"find a prompt template for writing a commit message", "search"},
	{"are there instructions for a code review", "search"},
	{"what options does this prompt command take", "describe"},
	{"run the prompt command git group-commit", "execute"},
	{"get the prompt text with variables filled in", "execute"},
	{"reload the command registry", "reload"},
	{"read the README file", "read_file"},
	{"show lines 100 to 200 of main.go", "read_file"},
	{"list the files in internal", "list_directory"},
	{"what is in this folder", "list_directory"},
	{"project status overview", "get_project_context"},
	{"what changed since last time", "get_project_context"},
	{"find anything about login: branches, pull requests, items or files", "search_all"},
	{"search everything for a word", "search_all"},
	{"run the tests", "run_just_task"},
	{"build the project", "run_just_task"},
	{"cancel the running build", "stop_task"},
	{"has the background task finished", "get_task"},
}

const (
	// near is how many of the first results a model looks at.
	near = 3
	// found is how many of the requests have their tool there.
	found = 0.95
)

// TestToolsAreFound searches names and descriptions by BM25, without stemming, synonyms or
// stop words.
func TestToolsAreFound(t *testing.T) {
	t.Parallel()
	if len(requests) < 60 {
		t.Fatalf("%d requests", len(requests))
	}
	var all index
	for _, set := range toolsets(t) {
		for _, tool := range set.Tools {
			all.add(tool.Name, strings.ReplaceAll(tool.Name, "_", " ")+" "+tool.Description)
		}
	}
	missed := 0
	for _, r := range requests {
		first := all.search(r.text)[:near]
		if !slices.ContainsFunc(strings.Fields(r.tools), func(name string) bool { return slices.Contains(first, name) }) {
			missed++
			t.Logf("%q finds %s instead of %s", r.text, strings.Join(first, ", "), r.tools)
		}
	}
	if share := 1 - float64(missed)/float64(len(requests)); share < found {
		t.Errorf("%.0f%% of the requests find their tool among the first %d, and %.0f%% must: use their words in the descriptions", 100*share, near, 100*found)
	}
}

// index is a collection of documents for BM25.
type index struct {
	names []string
	docs  []map[string]float64
	sizes []float64
}

var bareWord = regexp.MustCompile(`[a-z0-9]+`)

func (x *index) add(name, text string) {
	counts := make(map[string]float64)
	words := bareWord.FindAllString(strings.ToLower(text), -1)
	for _, w := range words {
		counts[w]++
	}
	x.names, x.docs, x.sizes = append(x.names, name), append(x.docs, counts), append(x.sizes, float64(len(words)))
}

// search returns all names, the best first; of the same score, in their order.
func (x *index) search(query string) []string {
	const k1, b = 1.2, 0.75
	average := 0.0
	for _, n := range x.sizes {
		average += n / float64(len(x.sizes))
	}
	scores := make(map[string]float64)
	for _, w := range bareWord.FindAllString(strings.ToLower(query), -1) {
		having := 0.0
		for _, d := range x.docs {
			if d[w] > 0 {
				having++
			}
		}
		idf := math.Log(1 + (float64(len(x.docs))-having+0.5)/(having+0.5))
		for i, d := range x.docs {
			scores[x.names[i]] += idf * d[w] * (k1 + 1) / (d[w] + k1*(1-b+b*x.sizes[i]/average))
		}
	}
	return slices.SortedStableFunc(slices.Values(x.names), func(a, b string) int { return cmp.Compare(scores[b], scores[a]) })
}
