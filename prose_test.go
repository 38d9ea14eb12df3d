//go:build !race

// The race detector makes these tests of texts ten times slower, and finds nothing in them: CI runs them
// with the plain test command only.

package copse_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// avoided lists wording that native technical writers do not use, or that the glossary
// replaces, each with what to write and a sentence that contains it. CONTRIBUTING.md
// describes the style.
var avoided = []struct{ pattern, write, example string }{
	{`folders?`, "directory", "Open the folder."},
	{`anew`, "again", "copse reads the file anew."},
	{`(any more|not[^.]* any longer)`, "no longer", "It does not run any more."},
	{`(tell|tells|told) of`, "reports, mentions", "No client is told of copse."},
	{`what (is|was|are|were) (there|added|meant|kept|missing (is|was))`, "a noun", "What is missing is said."},
	{`(is|are|was|were) no`, "is not a", "It is no branch of work items."},
	{`stands? (in|on|at|there)`, "is in", "The reason stands in the log."},
	{`wants`, "requires, needs", "Deleting wants --yes."},
	{`(write|writes|wrote|written) down`, "track, record", "Write a branch down is one thing; it is written down."},
	{`so that nobody`, "a sentence about who does what", "It is short, so that nobody needs to read it."},
	{`of which the`, "two sentences", "Two files, of which the first counts."},
	{`(see|sees|saw) to (it|that|this)`, "ensures", "The program sees to it."},
	{`(take|takes|took|taken) back`, "remove, undo", "Take back a link."},
	{`mends?`, "repairs", "The doctor mends the file."},
	{`(is|are) to be`, "must be, or an active verb", "What is to be done?"},
	{`(go|goes|went|going) on`, "continues", "It goes on in the background."},
	{`(the )?other way round`, "a sentence for each direction", "The commits that it has, and the other way round."},
	{`whoever`, "the person or program that", "Whoever waits learns of it."},
	{`(is|are) no more`, "no longer exist", "Files of commands that are no more are removed."},
	{`comes? of (it|that|this)`, "results", "It reports what came of it, or what comes of it."},
	{`as it should be`, "is up to date", "The file is as it should be."},
	{`(does|do) without`, "does not need", "The server does without a token."},
	{`(good|well) to know`, "nothing", "It is good to know."},
	{`begin to keep`, "track", "Begin to keep the branches."},
	{`(hook|hooks|hooked) (copse|it) (in|into)`, "connects to, installs in", "Hook copse into a client."},
	{`(up|down|back|for|out|in|after)wards`, "American spelling: upward, afterward", "From port 3000 upwards."},
	{`\w*(iour|olour|avour|onour)(s|ed|al|ite)?`, "American spelling: -or", "The behaviour of the client."},
	{`(recogn|organ|initial|normal|serial|author|summar|priorit|optim)is(e|es|ed|ing|ation)`, "American spelling: -ize", "copse recognises the file."},
	{`(whilst|amongst|licence|catalogue|centre|grey|analyse[sd]?|cancelling)`, "American spelling", "The licence of the catalogue."},
	{`(is|are|was|were) none of`, "is not one of", "The status is none of these."},
	{`((is|are|was|were) (running|used|set|stacked|taken|tracked|there|done|known|checked out|linked|claimed)( on it)?|exists?) already`, "already before the verb", "The task is running already."},
	{`(another \w+|other \w+) than`, "a noun other than", "It has another token than the server."},
	{`(out|in)side of (?:the|it|its|them|a|an|git|all|quotation)`, "outside, inside", "The link leads outside of the workspace."},
	{`otherwise than`, "differently than", "It is described otherwise than there."},
	{`or newer`, "or later", "It requires git 2.39 or newer."},
	{`replac(e|es|ed) (it|them) by`, "replaces it with", "Replace it by the file."},
	{`may not be (asked|used) by`, "the subject may not", "The engine may not be asked by this user."},
	{`cancelled`, "canceled", "The call was cancelled."},
	{`(run|runs) doctor`, "the whole command", "Then run doctor --repair."},
	{`(?-i:ids?)`, "ID", "The id of an item."},
	{`(please|simply|just run|easily)`, "nothing", "Simply run it."},
	{`(lead|leads|led|leading) (out of|outside)`, "points outside", "The link leads out of the project."},
	{`(is|are) (an )?errors? (soon|at once)`, "is an immediate error", "A named pipe is an error at once."},
	{`counts? only (if|as|for)`, "applies only if", "A bare repository counts only if you name it."},
	{`(claims|those) that count`, "the valid ones", "It reads the claims that count."},
	{`without (a word|end)`, "silently, indefinitely", "It reads without end, and fails without a word."},
	{`(last|first|second|open|nearest|latest|built-in) one counts`, "is used", "Of two keys, the last one counts."},
	{`changes count`, "are included", "Uncommitted changes count."},
	{`broke (down|off)`, "crashed, was interrupted", "The tool broke down on this call."},
	{`an? \w+ of theirs`, "their, one of their own", "A page of theirs can read it."},
	{`brought up to date`, "updated", "The branch must be brought up to date."},
}

// avoidedInMessages lists wording that is good in comments and bad in messages and pages: there,
// files do not speak, and programs do not look at anything.
var avoidedInMessages = []struct{ pattern, write, example string }{
	{`(look|looks|looked) (at|into)`, "check, inspect", "Look at the item before you repeat the change."},
	{`answered with`, "returned, responded with", "The server answered with a web page."},
	{`: want (a|an|the|%s|true|open|https)`, "expected, use", "The value is wrong: want a list, got a number."},
	{`(it is|they are) (kept|left out|not used)`, "copse keeps, copse ignores", "The label is not a string; it is left out."},
	{`(known|allowed|valid) are`, "known clients:, the allowed values:", "There is no such client; known are these."},
	{`exclude each other`, "cannot be used together", "The two flags exclude each other."},
	{`hold(s)? (a|an) (line break|equals sign)`, "contains", "The name holds a line break."},
	{`held by (another|other) programs?`, "in use by another program", "The port is held by another program."},
	{`(ask|asks|asked) GraphQL`, "query", "It could not ask GraphQL."},
	{`make (a|an|the) (temporary )?(directory|file|socket|store|shared store)`, "create", "It could not make a directory."},
	{`not known now`, "now unknown", "The pull request is not known now."},
	{`(\w+, ){2,}\w+ (and|or)`, "a comma before the last element", "Letters, digits, hyphens and underscores are allowed."},
}

// prose returns the pages that people read, generated ones included, and the templates, scripts, and
// styles of the web page.
func prose(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{
		"*.md", "docs/*.md", "docs/guide/*.md", "changes/*.md", "changes/unreleased/*.md", ".github/*.md",
		"internal/board/*.tmpl", "internal/board/*/*.tmpl", "internal/board/*/*.css", "internal/board/*/*.js",
		"internal/board/markup/assets/board.*",
	} {
		found, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	return slices.DeleteFunc(pages, func(page string) bool {
		// The page of benchmarks has the names of measured calls, which its data keeps.
		return filepath.ToSlash(page) == "docs/benchmarks.md"
	})
}

// Pages for people avoid certain wording.
func TestProse(t *testing.T) {
	t.Parallel()
	pages := prose(t)
	if len(pages) < 60 {
		t.Fatalf("only %d pages were found: %q", len(pages), pages)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		content := string(text)
		for _, f := range fixed {
			content = strings.ReplaceAll(content, f, "")
		}
		for _, problem := range append(review(content), reviewMessage(content)...) {
			if code := filepath.Ext(page) != ".md"; code && strings.HasSuffix(problem, "write ID") {
				continue // the name of an attribute or a variable
			}
			t.Errorf("%s:%s", filepath.ToSlash(page), problem)
		}
	}
}

// fixed are texts in code that are not ours to word: a seed, or the program that a file or a
// command is compatible with, gives them.
var fixed = []string{
	"twig-tracked", "twig-registered", "directory (folder)", "what is going on", "cancelled, canceled", "tool-cancelled",
}

// subject matches names in our code that contain a word to avoid, as comments have them.
var subject = regexp.MustCompile(`\A(wants|folder)\b|\bFolder\b`)

// What the programs say avoids the wording, too: help, errors, descriptions of tools, prompts,
// and log lines are string literals. So do all comments, those of tests included.
func TestProseOfPrograms(t *testing.T) {
	t.Parallel()
	checked := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			checked++
			for _, problem := range review(subject.ReplaceAllString(group.Text(), "")) {
				if strings.HasSuffix(problem, "write ID") {
					continue
				}
				t.Errorf("%s: the comment, line %s", files.Position(group.Pos()), problem)
			}
		}
		if strings.HasPrefix(name, "bench/") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/") {
			return nil // its strings are inputs and expectations
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil || !strings.Contains(text, " ") || strings.Contains(text, "</") {
				return true // an identifier, or markup
			}
			for _, f := range fixed {
				text = strings.ReplaceAll(text, f, "")
			}
			checked++
			for _, problem := range append(review(text), reviewMessage(text)...) {
				if strings.HasSuffix(problem, "write ID") {
					continue // the name of an argument
				}
				t.Errorf("%s: %q, line %s", files.Position(literal.Pos()), text, problem)
			}
			return true
		})
		return nil
	})
	if err != nil || checked < 1000 {
		t.Errorf("%d texts were checked, %v", checked, err)
	}
}

// noVerb matches a doc comment of a function that does not say what the function does: "X is the
// name" instead of "X returns the name".
var noVerb = regexp.MustCompile(`\A\w+ (is|are|tells|says|gives|words|notes|looks|whether|returns,)\s`)

// The comment of an exported function begins with what it does: "X returns …", or for a bool "X
// reports whether …".
func TestDocComments(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"Name is the name.\n", "Blocked tells whether it is blocked.\n"} {
		if !noVerb.MatchString(bad) {
			t.Errorf("%q is not found", bad)
		}
	}
	checked := 0
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, declaration := range file.Decls {
			function, ok := declaration.(*ast.FuncDecl)
			if !ok || !function.Name.IsExported() || function.Doc == nil {
				continue
			}
			checked++
			if text := function.Doc.Text(); noVerb.MatchString(text) {
				t.Errorf("%s: write what the function does: %.60q", files.Position(function.Pos()), text)
			}
		}
		return nil
	})
	if err != nil || checked < 500 {
		t.Errorf("%d comments were checked, %v", checked, err)
	}
}

// Every pattern finds its example, at the right line, and no quoted text.
func TestReview(t *testing.T) {
	t.Parallel()
	for _, a := range avoided {
		found := review("A heading\n\n" + a.example + "\n")
		if !slices.ContainsFunc(found, func(p string) bool { return strings.HasPrefix(p, "3: ") && strings.HasSuffix(p, a.write) }) {
			t.Errorf("the pattern %s does not find its example %q: %q", a.pattern, a.example, found)
		}
	}
	for _, a := range avoidedInMessages {
		found := reviewMessage(a.example)
		if !slices.ContainsFunc(found, func(p string) bool { return strings.HasSuffix(p, a.write) }) {
			t.Errorf("the pattern %s does not find its example %q: %q", a.pattern, a.example, found)
		}
	}
	quoted := "Run `copse folder`.\n\n```sh\nls folder\n```\n\n> \"Open a folder anew\"\n\nIt says \"a folder\" and [here](folder.md).\n"
	if found := review(quoted); len(found) > 0 {
		t.Errorf("quoted text counts: %q", found)
	}
	english := "There is no remote, the key is no longer used, and the list has no more than 50 rows."
	if found := review(english); len(found) > 0 {
		t.Errorf("good English is refused: %q", found)
	}
	if found := review("The text wraps in the middle: it does not run any\nmore.\n"); !slices.Equal(found, []string{`1: "any more": write no longer`}) {
		t.Errorf("a phrase on two lines: %q", found)
	}
}

// message calls check for each string literal in the code of the programs, with its position and
// whether it is a part of help.
func message(t *testing.T, check func(at token.Position, text string, help bool)) {
	t.Helper()
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "test/") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		help := map[ast.Node]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			if field, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := field.Key.(*ast.Ident); ok && slices.Contains([]string{"Use", "Short", "Long", "Example"}, key.Name) {
					ast.Inspect(field.Value, func(n ast.Node) bool { help[n] = true; return true })
				}
			}
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					check(files.Position(literal.Pos()), text, help[literal])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// quotedCommand matches a command in quotation marks, or a verb of a format that stands for one.
var quotedCommand = regexp.MustCompile(`(?:'|")(?:(?:copse|tic|twig-mcp|git|gh|just) [a-z%-][^'"]*|%(?:\[\d\])?s ?[a-z-][^'"]*)(?:'|")`)

// pastedCommand matches a command with a verb in it: a name there needs the quoting of
// cleantext.Command, because people paste such commands.
var pastedCommand = regexp.MustCompile("`(?:copse|tic|git|gh|just|chmod|cd) [^`]*%(?:\\[\\d\\])?[svq]")

// seedQuotes are messages that a seed or an original program words with single quotation marks.
var seedQuotes = []string{"Branch '%s'", "agent '%s'", "directory '%s/'"}

// A message has commands in backticks, as Markdown has them. Help has them in double quotation
// marks, because a backtick in the usage of a flag marks the name of its value.
func TestCommandsInMessages(t *testing.T) {
	t.Parallel()
	check := func(text string) string {
		for _, seed := range seedQuotes {
			text = strings.ReplaceAll(text, seed, "")
		}
		return quotedCommand.FindString(text)
	}
	for _, bad := range []string{"run 'copse init'", `did you mean "tic item list"?`, "'%s create TITLE' creates one", "'%ssync' exchanges it"} {
		if check(bad) == "" {
			t.Errorf("%q is not found", bad)
		}
	}
	if !pastedCommand.MatchString("run `git branch -d %s`") || pastedCommand.MatchString("run `%s`, or `git show %d`") {
		t.Error("the pattern does not find what it must")
	}
	message(t, func(at token.Position, text string, help bool) {
		if help || !strings.Contains(text, " ") || strings.Contains(text, "\n") && !strings.Contains(text, "Error") {
			return // help, a name, or a long text in a form of its own
		}
		if found := check(text); found != "" {
			t.Errorf("%s: %s: put the command in backticks", at, found)
		}
		if pastedCommand.MatchString(text) {
			t.Errorf("%s: %s: make the command with cleantext.Command", at, text)
		}
	})
}

var (
	// plurals matches a number with a noun in the plural.
	plurals = regexp.MustCompile(`%(?:\[\d\])?d (?:[a-z]+ ){0,2}?(?:arguments|backups|branches|bytes|changes|characters|checks|claims|clients|commands|comments|commits|` +
		`conflicts|containers|days|directories|entries|errors|files|hours|items|lines|minutes|notes|pages|parents|problems|prompts|repositories|results|reviews|rows|` +
		`seconds|sections|servers|stacks|tasks|threads|tokens|tools|variables|warnings|worktrees)\b`)
	// always matches numbers that are larger than one: limits, and the second part of "3 of 50 rows".
	always = regexp.MustCompile(`limit|(?i:more than)|longer than|exceeds|stopped after|(?:of|first|lowest|git (?:made|printed)) %(?:\[\d\])?d |bytes in line|last %d changes|bytes, changed at|at most`)
	// ended matches copse's own words after a number in a line of the context.
	ended = regexp.MustCompile(`^ (?:more )?[a-z]+s\b`)
)

// A number with a noun comes from one function, which knows the plural: "1 file", "2 files".
func TestCounts(t *testing.T) {
	t.Parallel()
	if !plurals.MatchString("removed %d deleted items") || plurals.MatchString("item %d was created") || always.MatchString("removed %d deleted items") {
		t.Error("the pattern does not find what it must")
	}
	message(t, func(at token.Position, text string, _ bool) {
		if plurals.MatchString(text) && !always.MatchString(text) {
			t.Errorf("%s: %q: use cleantext.Count or foreign.Line.Count", at, text)
		}
	})
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			number, words := chained(n, "Int", "Own")
			if number && ended.MatchString(words) {
				t.Errorf("%s: Int with %q: use Count", files.Position(n.Pos()), words)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// chained reports whether a node is a call of a method of the result of another one, as in
// l.Int(3).Own("words"), and returns the literal that is its argument.
func chained(n ast.Node, first, second string) (ok bool, literal string) {
	call, isCall := n.(*ast.CallExpr)
	if !isCall || len(call.Args) != 1 {
		return false, ""
	}
	outer, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod || outer.Sel.Name != second {
		return false, ""
	}
	before, isCall := outer.X.(*ast.CallExpr)
	if !isCall {
		return false, ""
	}
	inner, isMethod := before.Fun.(*ast.SelectorExpr)
	text, isLiteral := call.Args[0].(*ast.BasicLit)
	if !isMethod || inner.Sel.Name != first || !isLiteral {
		return false, ""
	}
	literal, err := strconv.Unquote(text.Value)
	return err == nil, literal
}

// A fragment begins with its kind and one sentence.
func TestFragments(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`\A(Added|Security|Changed|Fixed|Removed)( \([a-z ]+\))?: ([^a-z\n]|(copse|tic|twig-mcp)\b)[^\n]+\n(\n[^\n]|\n*\z)`)
	pages, err := filepath.Glob(filepath.Join("changes", "unreleased", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !form.Match(text) {
			t.Errorf("%s: the first line must be a kind, an optional area in parentheses, a colon, and one sentence with a capital; details follow an empty line", filepath.ToSlash(page))
		}
	}
}

var (
	phrases        = compile(avoided)
	messagePhrases = compile(avoidedInMessages)
	// anyPhrase matches where one of the phrases does. Most texts have none, and one pattern is
	// faster than thirty.
	anyPhrase = regexp.MustCompile(join(phrases))
	// Code, quotations of messages, and the targets of links keep their words, and some
	// phrases are good English although they contain one that is not.
	verbatim = regexp.MustCompile("(?is)\\b(?:there|here)\\s+(?:is|are|was|were)\\s+no\\b|\\bno\\s+(?:longer|more\\s+than|one)\\b|```.*?```|`[^`]*`|\"[^\"\n]*\"|\\]\\([^)]*\\)|<!--.*?-->")
)

func compile(avoided []struct{ pattern, write, example string }) []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, a := range avoided {
		words := strings.ReplaceAll(a.pattern, " ", `\s+`)
		list = append(list, regexp.MustCompile(`(?i)\b(?:`+words+`)\b`))
	}
	return list
}

// join returns the pattern that matches what one of the patterns matches.
func join(patterns []*regexp.Regexp) string {
	var all []string
	for _, p := range patterns {
		all = append(all, "(?:"+p.String()+")")
	}
	return strings.Join(all, "|")
}

// review returns what a text should say otherwise, each with its line.
func review(text string) []string {
	text = withoutQuotations(text)
	if !anyPhrase.MatchString(text) {
		return nil
	}
	return reviewFor(text, phrases, avoided)
}

// reviewMessage returns what a message or a page should say otherwise, in addition to review.
func reviewMessage(text string) []string {
	return reviewFor(withoutQuotations(text), messagePhrases, avoidedInMessages)
}

func withoutQuotations(text string) string {
	return verbatim.ReplaceAllStringFunc(text, func(s string) string { return "``" + strings.Repeat("\n", strings.Count(s, "\n")) })
}

func reviewFor(text string, phrases []*regexp.Regexp, avoided []struct{ pattern, write, example string }) []string {
	var found []string
	for i, phrase := range phrases {
		for _, at := range phrase.FindAllStringIndex(text, -1) {
			found = append(found, fmt.Sprintf("%d: %q: write %s",
				1+strings.Count(text[:at[0]], "\n"), strings.Join(strings.Fields(text[at[0]:at[1]]), " "), avoided[i].write))
		}
	}
	return found
}
