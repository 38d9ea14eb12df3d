//go:build !race

package growth_test

import (
	"fmt"
	"slices"
	"strings"
)

// lines returns n lines of a format with one number.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// list returns n values of a format with one number, with commas between them.
func list(n int, format string) string { return strings.TrimSuffix(lines(n, format+","), ",") }

const when = "2026-01-02T03:04:05Z"

// state returns the content of .twig/state.json.
func state(branches, dependencies, roots string) string {
	if roots == "" {
		roots = root("main")
	}
	return `{"version":1,"updated_at":"` + when + `","worktrees":[],"branches":{` + branches + `},"dependencies":[` + dependencies + `],"root_branches":[` + roots + `]}`
}

func root(name string) string {
	return `{"id":"r","branch":"` + name + `","is_default":true,"created_at":"` + when + `"}`
}

func edge(child, parent string) string {
	return `{"id":"d","child":"` + child + `","parent":"` + parent + `","created_at":"` + when + `"}`
}

// loads are the files that a stranger can make large.
func loads() []load {
	return slices.Concat(branchLoads(), gitLoads(), itemLoads(), promptLoads(), projectLoads())
}

func branchLoads() []load {
	reads := []string{"branch/twig.open", "branch/twig/edit.readState", "branch/twig/edit.Change"}
	return []load{
		{name: "branch state: branches", n: 8000, run: []string{"branch tree", "!branch prune --yes"}, readers: reads, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state(list(n, `"b%[1]d":{"branch":"b%[1]d","jira_issue":"A-%[1]d","created_at":"`+when+`"}`), "", ""))
		}},
		{name: "branch state: a chain", n: 8000, run: []string{"branch tree", "!branch parent topic main"}, readers: reads, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state("", chained(n)+edge("topic", "b0"), ""))
		}},
		{name: "branch state: parents of one branch", n: 8000, run: []string{"!branch prune --yes", "!branch untrack topic"}, readers: reads, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state("", list(n, edge("topic", "b%d")), ""))
		}},
		{name: "branch state: children of one branch", n: 8000, run: []string{"branch tree", "!branch untrack topic"}, readers: reads, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state("", list(n, edge("b%d", "topic")), ""))
		}},
		{name: "branch state: roots", n: 8000, run: []string{"branch tree", "!branch parent topic main"}, readers: reads, plant: func(g *ground, n int) {
			g.write(".twig/state.json", state("", edge("topic", "main"), list(n, root("b%d"))))
		}},
		{name: "gh-stack: branches", n: 8000, run: []string{"branch tree"}, readers: []string{"branch/source/ghstack.Read"}, plant: func(g *ground, n int) {
			g.write(".git/gh-stack", `{"schemaVersion":1,"stacks":[{"trunk":{"branch":"main"},"branches":[`+list(n, `{"branch":"b%d"}`)+`]}]}`)
		}},
		{name: "gh-stack: files of worktrees", n: 8, flood: true, run: []string{"branch tree"}, readers: []string{"branch/source/ghstack.Files", "branch/source/ghstack.Read"}, plant: func(g *ground, n int) {
			g.link(strings.Repeat(" ", 8<<20)+"{}", n, func(i int) string { return fmt.Sprintf(".git/worktrees/w%d/gh-stack", i) })
		}},
		{name: "graphite", n: 8000, run: []string{"branch tree"}, readers: []string{"branch/source/graphite.pullRequests", "branch/source/graphite.trunks"}, plant: func(g *ground, n int) {
			g.git("", "update-ref", "refs/branch-metadata/topic", g.git(`{"parentBranchName":"main"}`, "hash-object", "-w", "--stdin"))
			g.write(".git/.graphite_pr_info", `{"prInfos":[`+list(n, `{"prNumber":%[1]d,"headRefName":"b%[1]d","state":"OPEN"}`)+`]}`)
			g.write(".git/.graphite_repo_config", `{"trunk":"main","trunks":[`+list(n, `{"name":"t%d"}`)+`]}`)
		}},
		{name: "git-spice", n: 2000, run: []string{"branch tree"}, plant: func(g *ground, n int) {
			g.commit("refs/spice/data", 1, func(int) string {
				return "M 644 inline repo" + inline(`{"trunk":"main"}`) + "M 644 inline version" + inline("1") + lines(n, "M 644 inline branches/b%d"+inline(`{"base":{"name":"main"}}`))
			})
		}},
		{name: "git-machete", n: 8000, run: []string{"branch tree"}, readers: []string{"branch/source/machete.Read"}, plant: func(g *ground, n int) {
			g.write(".git/machete", "main\n"+lines(n, "\tb%d\n"))
		}},
		{name: "git-town", n: 4000, run: []string{"branch tree"}, readers: []string{"branch/source/gittown.ownFile", "git/gitconfig.Read"}, plant: func(g *ground, n int) {
			g.write(".git/config", g.read(".git/config")+lines(n, "[git-town-branch \"b%d\"]\n\tparent = main\n"))
			g.write(".git-town.toml", "[branches]\nmain = \"main\"\nperennials = ["+list(n, `"p%d"`)+"]\n")
		}},
	}
}

func gitLoads() []load {
	const hash = "1111111111111111111111111111111111111111"
	log := func(n int) string {
		return lines(n, hash+" "+hash+" Ada <ada@example.com> %d +0000\tBranch: created from b%[1]d\n")
	}
	return []load{
		{name: "git configuration", n: 2000, most: 100, run: []string{"branch tree", "context"}, readers: []string{"git/gitconfig.Read"}, plant: func(g *ground, n int) {
			g.write(".git/config", g.read(".git/config")+lines(n, "[branch \"b%[1]d\"]\n\tremote = origin\n\tmerge = refs/heads/b%[1]d\n[remote \"r%[1]d\"]\n\tpushurl = https://example.com/%[1]d\n"))
		}},
		{name: "remotes", n: 2000, most: 80, run: []string{"context", `{"method":"tools/call","params":{"name":"get_project_context","arguments":{}}}`}, readers: []string{"git/gitconfig.Read"}, plant: func(g *ground, n int) {
			g.write(".git/config", g.read(".git/config")+lines(n, "[remote \"r%[1]d\"]\n\turl = https://example.com/%[1]d\n\tfetch = +refs/heads/*:refs/remotes/r%[1]d/*\n"))
		}},
		{name: "submodules that are not here", n: 2000, most: 50, run: []string{"context", "worktrees"}, plant: func(g *ground, n int) {
			g.write(".gitmodules", lines(n, "[submodule \"s%[1]d\"]\n\tpath = s%[1]d\n\turl = https://example.com/%[1]d\n"))
			g.git(lines(n, "160000 "+g.git("", "rev-parse", "HEAD")+"\ts%d\n"), "update-index", "--index-info")
		}},
		{name: "submodules", n: 50, run: []string{"context", "worktrees"}, readers: []string{"git/gitlink.named"}, plant: func(g *ground, n int) {
			tip := g.git("", "rev-parse", "HEAD")
			g.git(lines(n, "160000 "+tip+"\ts%d\n"), "update-index", "--index-info")
			for i := range n {
				dir := fmt.Sprintf(".git/modules/s%d/", i)
				g.write(fmt.Sprintf("s%d/.git", i), fmt.Sprintf("gitdir: ../.git/modules/s%d\n", i))
				g.write(dir+"config", fmt.Sprintf("[core]\n\trepositoryformatversion = 0\n\tworktree = ../../../s%d\n", i))
				g.write(dir+"HEAD", tip+"\n")
				g.write(dir+"refs/.keep", "")
				g.write(dir+"objects/info/alternates", "../../../objects\n")
			}
		}},
		{name: "FETCH_HEAD", n: 8000, run: []string{"context", "item doctor", "!item doctor --repair"}, plant: func(g *ground, n int) {
			g.git("", "add", ".tic")
			g.git("", "commit", "-qm", "items")
			g.write(".git/FETCH_HEAD", lines(n, g.git("", "rev-parse", "HEAD")+"\tnot-for-merge\tbranch 'b%d' of https://example.com/a\n"))
		}},
		{name: "packed refs", n: 8000, run: []string{"branch tree", "context"}, readers: []string{"git/refstore.scanFile"}, plant: func(g *ground, n int) {
			tip := g.git("", "rev-parse", "HEAD")
			g.write(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted \n"+lines(n, tip+" refs/heads/b%07d\n"))
		}},
		{name: "loose refs", n: 600, run: []string{"branch tree"}, readers: []string{"git/refstore.readDir", "git/refstore.readSmall", "git/refstore.readFound"}, plant: func(g *ground, n int) {
			tip := g.git("", "rev-parse", "HEAD") + "\n"
			g.link(tip, n, func(i int) string { return fmt.Sprintf(".git/refs/heads/b%d", i) })
		}},
		{name: "reflogs", n: 8000, run: []string{"branch tree", "branch prune", "context"}, readers: []string{"branch/source/reflog.eachLine", "git/history.fileLog", "git/operation.started"}, plant: func(g *ground, n int) {
			g.write(".git/logs/HEAD", log(n))
			g.write(".git/logs/refs/heads/topic", log(n))
		}},
		{name: "reflogs of branches", n: 20, flood: true, run: []string{"branch tree", "branch prune"}, readers: []string{"branch/source/reflog.eachLine", "branch/source/reflog.linked", "git/history.fileLog"}, plant: func(g *ground, n int) {
			tip := g.git("", "rev-parse", "HEAD")
			g.write(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted \n"+lines(n, tip+" refs/heads/b%07d\n"))
			g.link(log(1<<16), n, func(i int) string { return fmt.Sprintf(".git/logs/refs/heads/b%07d", i) })
		}},
		{name: "index", n: 8000, run: []string{"context", "worktrees"}, readers: []string{"git.Discover", "git/hazard.list"}, plant: func(g *ground, n int) {
			g.git(lines(n, "100644 "+g.git("x", "hash-object", "-w", "--stdin")+"\td%[1]d/f\n"), "update-index", "--index-info")
		}},
		{name: "linked worktrees", n: 150, run: []string{"worktrees", "branch tree"}, readers: []string{"git/checkout.entries", "git/hazard.worktrees", "git/hazard.pointer", "branch/source/reflog.linked", "wiring/full.hasWorktrees", "git/discovery.linkedRoot"}, plant: func(g *ground, n int) {
			for i := range n {
				dir := fmt.Sprintf(".git/worktrees/w%d/", i)
				g.write(dir+"gitdir", fmt.Sprintf("/nowhere/w%d/.git\n", i))
				g.write(dir+"commondir", "../..\n")
				g.write(dir+"HEAD", "ref: refs/heads/topic\n")
			}
		}},
		{name: "alternates", n: 500, run: []string{"context"}, readers: []string{"git/hazard.lenders", "git/hazard.plainEntries"}, plant: func(g *ground, n int) {
			g.write(".git/objects/info/alternates", lines(n, "../nowhere%d\n"))
		}},
		{name: "alternates with many names", n: 100, run: []string{"context"}, readers: []string{"git/hazard.lenders"}, plant: func(g *ground, n int) {
			at := ".git/objects"
			for range 4 {
				list := ""
				for i := range n {
					list += strings.Repeat("./", i) + "below\n"
				}
				g.write(at+"/info/alternates", list)
				at += "/below"
			}
			g.write(at+"/x", "")
		}},
		{name: "shallow boundary", n: 4000, run: []string{"branch status"}, readers: []string{"git.Boundary"}, plant: func(g *ground, n int) {
			g.write(".git/shallow", lines(n, "%040x\n"))
		}},
		{name: "messages of commits", n: 1 << 20, run: []string{"branch adopt"}, plant: func(g *ground, n int) {
			g.git("", "checkout", "-q", "topic")
			g.git(lines(n/10, "AB-%07d\n"), "commit", "-q", "--allow-empty", "-F", "-")
		}},
		{name: "attributes", n: 4000, run: []string{"context", "conflicts"}, readers: []string{"git/hazard.add", "git/trial.AttributesOf"}, plant: func(g *ground, n int) {
			g.write(".gitattributes", lines(n, "f%d text\n"))
			g.write(".git/info/attributes", lines(n, "f%d text\n"))
		}},
	}
}

// itemText returns the file of an item.
func itemText(id int, fields, body string) string {
	return fmt.Sprintf("---\nid: \"%d\"\ntitle: t%[1]d\ntype: task\nstatus: todo\niteration: default\npriority: low\n%s\ncreated: 2026-01-02T03:04:05.%06dZ\nupdated: 2026-01-02T03:04:05.%06[3]dZ\n---\n\n%s\n", id, fields, id, body)
}

func itemLoads() []load {
	const one = ".tic/items/1.md"
	all := []string{"item list --all", "item doctor", "!item doctor --repair"}
	readsItems := []string{
		"item/itemdir.scan", "item/itemdir.SizesIn", "item/local/layout.Names", "item/local/layout.read", "item/local/reader.Find", "item/local/reader.Item", "item/local/reader.Anywhere", "item/local/reader.Largest",
		"item/local/reader.Unmerged", "item/local/checkup.Tree", "item/local/checkup.fits", "item/local/checkup.Text", "item/local/checkup.file", "item/local/checkup.references", "item/local/writer.Update", "item/local/writer.AddComment",
		"item/local/writer.checkGrowth", "item/local/exchange.Read", "item/local/writer.Everything", "item/local/writer.removeComment",
	}
	comments := func(n int, name string) string {
		return "# Comments\n\n" + lines(n, "---\nauthor: "+name+"%d\ndate: "+when+"\n\nhello\n\n")
	}
	return []load{
		{name: "items", n: 200, run: []string{"!item list --all", "search hello", "item update 5 --title x", "!item doctor --repair"}, readers: readsItems, plant: func(g *ground, n int) {
			for i := range n {
				g.write(fmt.Sprintf(".tic/items/%d.md", i+1), itemText(i+1, fmt.Sprintf("labels: [a%d]\nparent: \"%d\"\ndepends_on: [\"%d\"]", i, i/2+1, i+2), "hello #3"))
			}
		}},
		{name: "comments of an item", n: 4000, run: append(all, "item show 1", "!item comment 1 more"), readers: readsItems, plant: func(g *ground, n int) {
			g.write(one, itemText(1, "", "text\n\n"+comments(n, "a")))
		}},
		{name: "comments on both sides", n: 4000, run: append(all, "item show 1"), readers: []string{"item/local/reader.Unmerged"}, plant: func(g *ground, n int) {
			g.write(one, itemText(1, "", "text\n\n<<<<<<< HEAD\n"+comments(n, "a")+"=======\n"+comments(n, "b")+">>>>>>> topic\n"))
		}},
		{name: "labels and dependencies", n: 4000, run: append(all, "item show 1"), readers: readsItems, plant: func(g *ground, n int) {
			g.write(one, itemText(1, "labels:"+lines(n, "\n  - l%d")+"\ndepends_on:"+lines(n, "\n  - \"%d\""), "hello"))
		}},
		{name: "configuration of items", n: 4000, run: append(all, "item iteration list", "!item create x --iteration y"), readers: []string{"item/local/reader.Open", "item/local/writer.Configuration"}, plant: func(g *ground, n int) {
			g.write(".tic/config.yml", "backend: local\ntypes:\n  - task\nstatuses:\n  - todo\n  - done\niterations:\n  - default"+lines(n, "\n  - i%d")+"\nnext_id: 2\n")
		}},
		{name: "configuration on both sides", n: 2000, run: []string{"item list", "item doctor"}, readers: []string{"item/local/reader.Open"}, plant: func(g *ground, n int) {
			g.write(".tic/config.yml", "backend: local\ntypes:\n  - task\nstatuses:\n  - todo\n  - done\niterations:\n  - default\n<<<<<<< HEAD"+lines(n, "\n  - i%d")+"\n======="+lines(n, "\n  - j%d")+"\n>>>>>>> topic\nnext_id: 2\n")
		}},
		{name: "trash", n: 150, run: []string{"item trash list", "item doctor", "item log", "!item doctor --repair"}, readers: []string{
			"item/local/trash.List", "item/local/trash.Purge", "item/local/trash.bringBack", "item/local/trash.forget", "item/local/checkup.copies", "item/local/checkup.FindHalfDeleted", "item/local/writer.Restore",
		}, plant: func(g *ground, n int) {
			for i := range n {
				g.write(fmt.Sprintf(".tic/trash/%d.md", i+2), itemText(i+2, "deleted: "+when, "hello #1"))
			}
		}},
		{name: "histories", n: 4000, run: []string{"item log 1", "item log", "!item update 1 --title x"}, readers: []string{"item/local/historydir.Latest", "item/local/historydir.read"}, plant: func(g *ground, n int) {
			g.write(one, itemText(1, "", "hello"))
			g.write(".tic/.copse/history/1-20260102T030405000001Z.jsonl", lines(n, `{"id":"a%d","item":1,"at":"2026-01-02T03:04:05.000Z","by":{"name":"b"},"kind":"created"}`+"\n"))
		}},
		{name: "claims", n: 150, run: []string{"item list", "worktrees", "!item claim 1"}, readers: []string{"item/local/claimbook.records", "item/local/claimbook.readClaim"}, plant: func(g *ground, n int) {
			for i := range n {
				g.write(fmt.Sprintf(".git/copse/claims/%d-20260102T030405%06dZ.json", i+1, i+1), fmt.Sprintf(`{"item":%d,"created":"2026-01-02T03:04:05.%06[1]dZ","holder":{"name":"a"},"since":"2026-01-02T03:04:05.000Z","renewed":"2026-01-02T03:04:05.000Z","expires":"2099-01-02T03:04:05.000Z"}`, i+1))
			}
		}},
		{name: "claims of 64 KiB", n: 400, flood: true, run: []string{"item list", "worktrees"}, readers: []string{"item/local/claimbook.records", "item/local/claimbook.readClaim"}, plant: func(g *ground, n int) {
			g.link(`{"item":1}`+strings.Repeat(" ", 64<<10-10), n, func(i int) string { return fmt.Sprintf(".git/copse/claims/%d-20260102T030405000001Z.json", i+1) })
		}},
		{name: "records of changed numbers", n: 4000, run: []string{"item list", "item doctor", "!item claim 1"}, readers: []string{"item/local/layout.Renumberings"}, plant: func(g *ground, n int) {
			g.write(".tic/renumbered.tsv", "from\tto\tcreated\ton\n"+lines(n, "1\t%[1]d\t2026-01-02T03:04:05.%06[1]dZ\t2026-01-02\n"))
		}},
		{name: "links of items", n: 150, run: []string{"item list", "item doctor", "worktrees"}, readers: []string{"item/local/layout.readLink", "item/local/reader.Links", "item/local/checkup.apart"}, plant: func(g *ground, n int) {
			for i := range n {
				g.write(fmt.Sprintf(".tic/links/20260102T030405%06dZ.yml", i+1), fmt.Sprintf("branch: b%d\n", i))
				g.write(fmt.Sprintf(".tic/conflicts/%d-0123456789ab.md", i+1), itemText(i+1, "", "hello"))
			}
		}},
		{name: "shared branch", n: 200, run: []string{"item sync", "item claim 1"}, plant: func(g *ground, n int) {
			g.share(n, func(i int) string {
				return fmt.Sprintf("M 644 inline items/%d.md", i+2) + inline(itemText(i+2, "labels: [a]", "hello"))
			})
		}},
		{name: "used numbers", n: 4000, run: []string{"!item create x"}, readers: []string{"item/numbers.read", "item/numbers.Forget"}, plant: func(g *ground, n int) {
			g.write(".git/copse/numbers.json", `{"dirs":{},"packed":"","read":0,"stores":{".tic":{"given":{"number":1},"tips":{`+list(n, `"refs/heads/b%[1]d":{"number":%[1]d}`)+`}}}}`)
		}},
		{name: "births", n: 8000, run: []string{"item doctor", "!item create x"}, readers: []string{"item/local/births.Read", "item/local/births.New"}, plant: func(g *ground, n int) {
			g.write(".tic/.copse/births", lines(n, "%d 2026-01-02T03:04:05.000Z\n"))
		}},
		{name: "journals", n: 1 << 20, run: []string{"!item create x", "item list"}, readers: []string{"item/local/exchange.Finish", "item/local/exchange.Note", "item/local/trash.Finish", "item/local.failedSync", "item/local/checkup.Note", "item/local/writer.Mark", "item/local/writer.noted"}, plant: func(g *ground, n int) {
			g.write(".tic/.copse/exchange.json", strings.Repeat(" ", n)+"{}")
			g.write(".tic/.copse/pending.json", strings.Repeat(" ", n/4)+"{}")
			g.write(".tic/.copse/sync-failed", strings.Repeat(" ", n/4))
		}},
	}
}

func promptLoads() []load {
	const agent = ".agent/climpt/"
	registry := func(n int) string {
		return `{"version":"1","description":"d","tools":{"availableConfigs":["git"],"commands":[` + list(n, `{"c1":"git","c2":"write","c3":"p%d","description":"d","usage":"u","options":{"edition":["default"],"adaptation":["default"],"file":false,"stdin":false,"destination":false},"uv":[]}`) + `]}}`
	}
	return []load{
		{name: "registry", n: 4000, run: []string{"prompt list", "prompt search hello", `{"method":"prompts/list"}`, `{"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"climpt://{agent}/{c1}/{c2}/{c3}"},"argument":{"name":"c2","value":""},"context":{"arguments":{"agent":"climpt","c1":"git"}}}}`}, readers: []string{"command/library.load"}, plant: func(g *ground, n int) {
			g.write(agent+"registry.json", registry(n))
		}},
		{name: "agents", n: 20, flood: true, run: []string{"search hello", `{"method":"prompts/list"}`}, readers: []string{"command/library.agents", "command/library.load"}, plant: func(g *ground, n int) {
			g.link(registry(1)+strings.Repeat(" ", 8<<20), n, func(i int) string { return fmt.Sprintf(".agent/a%d/registry.json", i) })
		}},
		{name: "map of registries", n: 4000, run: []string{"prompt list"}, readers: []string{"command/library.forget"}, plant: func(g *ground, n int) {
			g.write(agent+"config/registry_config.json", `{"registries":{"climpt":"`+agent+`registry.json",`+list(n, `"a%[1]d":".agent/a%[1]d/registry.json"`)+`}}`)
		}},
		{name: "variables of a template", n: 8000, run: []string{"prompt run git write commit-message --no-input", "prompt check"}, readers: []string{"command/render.readSource", "command/render.template", "command/runner.Read", "command/catalog.registry"}, plant: func(g *ground, n int) {
			g.write(agent+"prompts/git/write/commit-message/f_default.md", "Write\n"+lines(n, "{uv-v%d}\n"))
		}},
		{name: "templates", n: 60, run: []string{"prompt index", "prompt check"}, readers: []string{"command/catalog.directory", "command/catalog.template", "command/catalog.Write"}, plant: func(g *ground, n int) {
			for i := range n {
				g.write(fmt.Sprintf(agent+"prompts/git/write/p%d/f_default.md", i), "---\ntitle: t\n---\nWrite\n")
			}
		}},
		{name: "exported prompts", n: 300, run: []string{"prompt export --client claude-code --check"}, readers: []string{"command/export.gone", "command/export.state"}, plant: func(g *ground, n int) {
			g.link("---\ndescription: d\n---\nx\n", n, func(i int) string { return fmt.Sprintf(".claude/commands/c%d.md", i) })
		}},
	}
}

func projectLoads() []load {
	read := `{"method":"tools/call","params":{"name":"%s","arguments":{%s}}}`
	return []load{
		{name: "justfile: recipes", n: 500, run: []string{"task list"}, readers: []string{"recipe.find", "recipe/justsource.add"}, plant: func(g *ground, n int) {
			g.write("justfile", lines(n, "r%[1]d a b=\"c\": \n  @echo r%[1]d\n\n"))
		}},
		{name: "justfile: imports", n: 60, run: []string{"task list"}, readers: []string{"recipe/justsource.add", "recipe/justsource.candidates"}, plant: func(g *ground, n int) {
			g.write("justfile", lines(n, "import 'i%d.just'\n"))
			for i := range n {
				g.write(fmt.Sprintf("i%d.just", i), fmt.Sprintf("r%d:\n  @echo x\n", i))
			}
		}},
		{name: "justfile: modules", n: 30, run: []string{"task list"}, readers: []string{"recipe/justsource.candidates"}, plant: func(g *ground, n int) {
			g.write("justfile", lines(n, "mod m%d\n"))
			for i := range n {
				g.write(fmt.Sprintf("m%d.just", i), "r:\n  @echo x\n")
			}
		}},
		{name: "ignore file", n: 4000, run: []string{"search hello", "context"}, readers: []string{"project.own", "project.outside"}, plant: func(g *ground, n int) {
			g.write(".gitignore", lines(n, "/f%d\n"))
			g.write(".git/info/exclude", lines(n, "g%d\n"))
		}},
		{name: "ignore files of directories", n: 30, flood: true, run: []string{"search hello", fmt.Sprintf(read, "list_directory", `"path":".","depth":3`)}, readers: []string{"project.own"}, plant: func(g *ground, n int) {
			g.link(lines(60000, "a%010d\n"), n, func(i int) string { return fmt.Sprintf("d%d/.gitignore", i) })
		}},
		{name: "files", n: 200, run: []string{"search hello", "context", fmt.Sprintf(read, "list_directory", `"path":".","depth":3`)}, readers: []string{"project.entries", "project.read", "git/fingerprint.Subdirectories", "rooted.ReadDir", "git/trial.read"}, plant: func(g *ground, n int) {
			for i := range n {
				g.write(fmt.Sprintf("d%d/hello.txt", i), "hello\n")
			}
		}},
		{name: "a long file", n: 1 << 20, run: []string{"search hello", fmt.Sprintf(read, "read_file", `"path":"long.txt"`)}, readers: []string{"rooted.Read"}, plant: func(g *ground, n int) {
			g.write("long.txt", lines(n/8, "hello%d\n"))
		}},
		{name: "client configuration", n: 2000, run: []string{"mcp doctor", "!mcp install --client cursor --scope project", "status"}, readers: []string{"lockedstore.Read", "lockedstore.changeIn", "lockedstore.look", "lockedstore.unchanged"}, plant: func(g *ground, n int) {
			g.write(".cursor/mcp.json", `{"mcpServers":{`+list(n, `"s%d":{"command":"x"}`)+`}}`)
		}},
		// The YAML library takes quadratic time, so the file has at most 16 KiB.
		{name: "settings of the repository", n: 600, flood: true, most: 64, run: []string{"context", "mcp doctor"}, readers: []string{"settings.OpenRepository"}, plant: func(g *ground, n int) {
			g.write(".copse.yml", lines(n, "k%d: v\n"))
		}},
	}
}

// inline is the rest of a line about a file for "git fast-import", with the content.
func inline(text string) string { return fmt.Sprintf("\ndata %d\n%s\n", len(text), text) }

// chained stacks n branches on each other.
func chained(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(edge(fmt.Sprintf("b%d", i), fmt.Sprintf("b%d", i+1)) + ",")
	}
	return b.String()
}
