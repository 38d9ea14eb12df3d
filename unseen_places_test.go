//go:build !race

package copse_test

// unaskedPlaces are the functions that may take a file that cannot be seen for one that is not there, by
// the reason.
var unaskedPlaces = map[string]string{
	"it compares what a cache was made from: an unseen file makes the cache invalid, or was unseen before, too, and reading it reports the error": `
		branch/source/records at
		branch/source/records below
		branch/source/records stampsOf
		branch/twig direct
		branch/twig get
		git/fingerprint Around
		git/fingerprint around
		git/fingerprint stat
		item/itemdir Current
		item/itemdir examine
		item/itemdir openCache
		item/itemdir removeOld
		item/itemdir watch
		item/local/writer noteUsed
		item/local/writer noted
		item/numbers current
		item/numbers packed
		item/numbers replace
		item/numbers update
		item/numbers walk
		project entries
		project moved
		project readPart
		remote has
		remote remember
		samedir At
		session moved
		wiring/boards health
		workflow/projectcontext stampOf
	`,
	"it reads a cache, a note, or a log of copse's own, without which it asks again or shows less": `
		board/health log
		cli/mcp/aside Of
		cli/mcp/hook forget
		cli/up start
		dirwatch limit
		git Watches
		item/local afterRebase
		item/local failedSync
		item/local/births New
		item/local/births Note
		lockedstore sweep
		recipe/runlog read
		recipe/running StoppedBy
		recipe/running read
		remote Get
		remote prune
		remote/seen append
		remote/seen read
		tempdir abandoned
		tempdir removeLeft
		turn Paused
		userdir List
		watch isDir
		wiring/boards directories
		workflow/openpulls Refresh
		workflow/projectcontext/since forget
		workflow/projectcontext/since recall
	`,
	"it permits only what it sees: an unseen file refuses, or is not used": `
		app private
		app sameFile
		docker socket
		docker trust
		git/discovery alone
		git/discovery isSafe
		git/discovery ownedByAccount
		git/discovery sameFile
		git/operation has
		git/sidebranch Open
		idle unmapExecutable
		item/claim removed
		item/numbers ready
		lockedstore MakeDir
		lockedstore temporary
		recipe find
		recipe open
		rooted WithTypes
		rooted insideAs
		rooted openPlain
		userdir private
		workflow/itemsync known
		xec executable
		xec neutral
	`,
	"it chooses an error or a hint; the file has another error already": `
		branch/source/gitspice Read
		branch/source/graphite table
		cli/mcp Present
		cli/mcp/hook informed
		cli/up isItem
		credential inGH
		git/discovery deadEnd
		item/local/reader Explain
		netrc exists
		rooted openDir
		workflow/doctor real
	`,
	"what opens the file next reports the error": `
		item/local/location check
		git Boundary
		git/gitconfig Read
		git/gitconfig SystemFile
		git/checkout noLink
		git/hazard inside
		git/hazard judge
		git/hazard leaves
		git/hazard link
		git/refstore readFound
		git/sidebranch other
		git/trial commit
		git/trial read
		item/postgres/address checkPassfile
		lockedstore editAt
		lockedstore changeIn
		lockedstore inside
		lockedstore look
		lockedstore open
		lockedstore replace
		project find
		project inGit
		project isGits
		recipe/justsource candidates
		recipe/justsource regular
		regular OpenDir
		regular OpenRoot
		regular OpenRootIn
		regular OpenDirAt
		rooted IsGit
		wiring/full session
		workflow/cliententries Exposed
		workflow/cliententries Tighten
	`,
	"it resolves a path for a comparison; an unseen one stays as it is": `
		git/discovery aliasOf
		git/discovery ceiling
		rooted newRoot
		settings DatabaseOf
		settings DirectoryOf
		wiring/full Choose
		workflow/stack real
	`,
	"a record of another tool, or of an operation of git that is under way, that is damaged or being written counts as none": `
		branch/source/ghstack Files
		branch/source/reflog eachLine
		branch/source/reflog exists
		branch/source/reflog isTag
		branch/source/reflog linked
		cli/item/itemproject storeConfig
		git Fetched
		git/checkout used
		git/operation Read
		git/operation started
		git/operation text
		item/gitmerge OpenRepo
		item/gitmerge Rewritten
		item/gitmerge readTrees
		item/gitmerge rebaseDir
		git/trial AttributesOf
	`,
	"the check of the store, or its list of problems, names what cannot be read": `
		item/itemdir SizeOf
		item/local/checkup FindHalfDeleted
		item/local/checkup Text
		item/local/checkup copies
		item/local/checkup file
		item/local/reader Unmerged
		item/local/trash Purge
		item/local/trash bringBack
		item/local/writer Everything
	`,
	"a file of prompts that cannot be read is left out of a list, and is an error where it is used": `
		command/catalog Write
		command/catalog registry
		command/export gone
		command/export writeSection
		command/library agents
		command/library size
		command/render variables
	`,
	"these are files of the kernel about processes and connections, and tokens that nobody can use unread": `
		wiring following
		wiring tokens
		xec/family Marked
		xec/family bootID
		xec/family processes
		xec/family space
		xec/family stat
	`,
	"a lock or a trace of copse's own that cannot be seen counts as lost: the next write makes it again, or reports the error": `
		git/sidebranch location
		presence lost
		supervisor/control lost
	`,
	"a .git that cannot be read leads to no repository that copse uses": `
		git/gitlink named
	`,
	"the owner of a new file is that of its directory, if that can be seen": `
		lockedstore prepare
		lockedstore stage
		ownership GiveDir
		ownership Open
		recipe lock
		wholefile Replace
	`,
	"it describes an error, or ends with it": `
		item/local place
		regular WithOwner
		xec/terminal pass
	`,
	"a path that cannot be resolved is compared as it is written": `
		git/ownpath real
		recipe/launcher launches
	`,
}
