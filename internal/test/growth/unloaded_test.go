//go:build !race

package growth_test

import "maps"

// unloaded are the readers without a load, by the reason.
func unloaded() map[string]string {
	all := map[string]string{}
	for why, readers := range map[string][]string{
		"a file of the user, of this machine, or that only copse writes outside the project; no clone brings it": {
			"bearer.Rotate", "branch/source/pulllist.Read", "bearer.Token", "board/health.log", "cli/item.edit", "cli/item.read", "cli/mcp/aside.Of", "cli/mcp/hook.due", "cli/mcp/hook.forget", "cli/up.start", "credential.inGH", "docker.trust",
			"item/itemdir.openCache", "item/itemdir.removeOld", "lockedstore.sweep", "lockedstore.syncDir", "netrc.Read", "presence.List", "recipe.NewJournal", "recipe/runlog.read", "recipe/running.StoppedBy", "recipe/running.read",
			"remote.Get", "remote.prune", "remote/seen.read", "repolist.New", "settings.OpenUser", "supervisor.load", "tempdir.removeLeft", "turn.Paused", "userdir.List", "userdir.Read", "wiring.tokens",
			"workflow/conflicts/results.Open", "workflow/projectcontext/since.forget", "workflow/projectcontext/since.recall",
		},
		"a file of the system": {
			"dirwatch.Changed", "dirwatch.limit", "idle.unmapExecutable", "loopback.eachTable", "xec/family.Marked", "xec/family.bootID", "xec/family.processes", "xec/family.stat", "xec/guard.start",
		},
		"one file of a few kilobytes": {
			"git/discovery.alone", "git/discovery.checkGitDir", "git/gitlink.CommonDir", "recipe/launcher.launches", "git/hazard.tables", "git/operation.text", "git/sidebranch.location", "git/reftable.lists",
			"item/gitmerge.Rewritten", "item/gitmerge.readTrees", "workflow/itemsync.known",
		},
		"one file of 8 MiB, which git merges, or of 1 MiB":       {"git/discovery.followGitfile", "cli/item/itemproject.mergeDriver", "cli/item/itemproject.storeConfig", "item/local.RegisterDriver", "item/merge/driver.Merge"},
		"TestRowsShareNothing and TestManyColumns of sqlitefile": {"branch/source/graphite.table"},
		"no file: a terminal, or a call of the same name":        {"item/merge/driver.isVersion", "item/merge/references.Numbers", "item/shared.chosen", "xec/terminal.pass", "xec/terminal.show", "item/remerge.births", "item/remerge.buriedItems", "item/remerge.revertedItems"},
		"only whether a directory has an entry, or no entry":     {"workflow/conflicts.empty", "lockedstore.inDirectory"},
		"TestBegin of ownpath":                                   {"git/ownpath.begins"},
		"what the others are made of":                            {"regular.list"},
	} {
		maps.Copy(all, reasons(why, readers))
	}
	return all
}

func reasons(why string, readers []string) map[string]string {
	all := map[string]string{}
	for _, r := range readers {
		all[r] = why
	}
	return all
}
