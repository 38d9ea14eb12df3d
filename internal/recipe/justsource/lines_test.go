package justsource_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/recipe/justsource"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// header returns a random justfile. Its statements have names that begin with "real"; what looks like
// one in a string, a comment, or a recipe has a name that begins with "decoy", unless a mistake makes it one.
func header(r *rand.Rand) (text string, mistake bool) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	gap := func() string { return pick(" ", " ", "\t", " \\\n", "\\\n\t ", " \\\n\\\n") }
	decoy := func() string {
		return pick("import 'decoy.just'", "mod decoy", "decoy(x) := x", "set script-interpreter := ['decoy']", `it's "`, "'''", "``", "{{{{", "}}", `\`, "(", "]")
	}
	// inside returns decoys in lines of a text that ends at the first of some characters.
	inside := func(without string) string {
		text := decoy() + pick("", "\n", "\n  ", "\\\n") + decoy()
		return strings.Map(func(c rune) rune {
			if strings.ContainsRune(without, c) {
				return 'x'
			}
			return c
		}, text)
	}
	var insertion func() string
	value := func() string {
		switch r.IntN(9) {
		case 0:
			return "'" + inside("'") + "'"
		case 1:
			return `"` + pick(`\"`, `\\`, "") + inside("\"\\") + `"`
		case 2:
			return "'''" + inside("'") + pick("'", "''", "") + "x'''"
		case 3:
			return `"""` + pick(`"`, `\"`, `\\`) + inside("\"\\") + `x"""`
		case 4:
			return "`" + inside("`") + "`"
		case 5:
			return "```" + inside("`") + pick("``", "") + "x```"
		case 6:
			return "f'" + inside("'{}") + pick("", "{{{{") + insertion() + inside("'{}") + "'"
		case 7:
			return `f"""` + pick(`"`, `\"`) + insertion() + inside("\"{}\\") + `x"""`
		}
		return "(" + pick("", "\n", " \n\\\n", "\r\n") + "'" + inside("'") + "'" + pick("", "\n") + ")"
	}
	depth := 0
	insertion = func() string {
		if depth++; depth > 3 {
			return ""
		}
		return "{{" + pick("", " ", "\\\n ", "\n  ", "\n") + value() + pick("", " ", "\n   ", "\n", " + 'a'", "\\\n") + pick("", " + if 'a' == 'b' {'c'} else {'d'}") + "}}"
	}
	var b strings.Builder
	b.WriteString(pick("", "", "\ufeff", "\ufeff ", "\ufeff\\\n ", "\\\n\ufeff", "#!/usr/bin/env just\n") + pick("", "set unstable\n"))
	for i := range 1 + r.IntN(7) {
		depth = 0
		name := fmt.Sprintf("real%d", i)
		b.WriteString(pick("", "", "", "\\\n", "\\\n  ", "\\\n\t\\\n ", "\n", " \t\n", "# "+strings.ReplaceAll(inside(""), "\n", " ")+"\\\n", "[private]\n", "[doc(\n  'a')]\n"))
		switch r.IntN(9) {
		case 0, 1:
			b.WriteString("import" + gap() + pick("?"+gap(), "") + pick("'"+name+".just'", `"`+name+`.just"`, "'''"+name+".just'''", `"rea\u{6c}`+name[4:]+`.just"`))
		case 2:
			b.WriteString("mod" + gap() + name + pick("", gap()+"'"+name+".just'"))
		case 3:
			b.WriteString(name + "(x" + pick("", ",", "\n", ", y\n") + ")" + gap() + ":=" + gap() + "x")
		case 4:
			b.WriteString(pick("set ", "set"+gap()) + "script-interpreter" + pick(" ", gap()) + ":= [" + pick("'real', '-a'", "'real'", "'real',\n'-a'", "'re\nal'") + "]")
		case 5, 6:
			b.WriteString(fmt.Sprintf("v%d", i) + gap() + ":=" + gap() + value())
		default:
			fmt.Fprintf(&b, "r%d:%s\n  echo %s%s\n%s  %s\n", i, pick("", " \\\n", " # "+pick("a", "'", `\`)), pick("", `\`, "'", "{{{{", "}}", "# "), insertion(), pick("", "\n", "\t\n"), strings.NewReplacer("\n", "\n  ", "{{", "{{{{").Replace(decoy()))
		}
		b.WriteString(pick("", "", " ", gap(), " # it's \\", "\t# ") + "\n")
	}
	text = b.String()
	if r.IntN(4) == 0 {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	if mistake = r.IntN(4) == 0; mistake {
		at := r.IntN(len(text))
		text = text[:at] + pick("", "'", "\n", "\\\n", "(", "{{", " ", "`", "#", `\`) + text[min(at+r.IntN(3), len(text)):]
	}
	return text, mistake
}

// What just imports and defines in a justfile, copse's reader finds, or it refuses the file. Text that
// only looks like a statement is none.
func TestLinesAsJust(t *testing.T) {
	t.Parallel()
	just, err := xec.Env(os.Environ()).LookPath("just")
	if err != nil {
		need.Skip(t, "just is not installed")
	}
	dir := t.TempDir()
	names := []string{"decoy"}
	for i := range 8 {
		names = append(names, fmt.Sprintf("real%d", i))
	}
	for _, name := range names {
		gittest.Write(t, filepath.Join(dir, name+".just"), "from-"+name+":\n")
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	accepted := 0
	for range 600 {
		text, mistake := header(r)
		gittest.Write(t, filepath.Join(dir, "justfile"), text)
		run := func(arg ...string) (string, error) {
			res, err := xec.Run(t.Context(), xec.Command{Name: just, Dir: dir, Env: os.Environ(), Args: append([]string{"--justfile", filepath.Join(dir, "justfile"), "--dump"}, arg...)})
			return string(res.Stdout), err
		}
		dump, err := run("--dump-format", "json")
		if err != nil {
			continue
		}
		accepted++
		plain, err := run()
		if err != nil {
			t.Fatal(err)
		}
		if mistake {
			plain = ""
		}
		found := sourcesOf(t, dir)
		for _, problem := range found.compare(names, dump, plain) {
			t.Errorf("seed %d: %s in %q", seed, problem, text)
		}
	}
	t.Logf("just accepts %d files", accepted)
	if accepted < 100 {
		t.Errorf("seed %d: just accepts %d files only", seed, accepted)
	}
}

// copse reads parentheses as deeply nested as just does, and refuses a line that nests a million of them before
// it uses memory for each.
func TestNestedParentheses(t *testing.T) { //nolint:paralleltest // it measures allocations
	dir := t.TempDir()
	write := func(text string) { gittest.Write(t, filepath.Join(dir, "justfile"), text) }
	write("x := " + strings.Repeat("(", 255) + "'a'" + strings.Repeat(")", 255) + "\n")
	if found := sourcesOf(t, dir); found.err != nil {
		t.Error(found.err)
	}
	write(strings.Repeat("[", 1<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found := sourcesOf(t, dir)
	runtime.ReadMemStats(&after)
	if found.err == nil {
		t.Error("a million brackets are read")
	}
	const most = 4 << 20
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("%d bytes are allocated", got)
	}
}

// sources are what copse finds in a justfile.
type sources struct {
	files, functions, interpreter []string
	err                           error
}

func sourcesOf(t *testing.T, dir string) (found sources) {
	t.Helper()
	root, err := rooted.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s, err := justsource.Read(root, dir, "", "justfile")
	if err != nil {
		return sources{err: err}
	}
	to := t.TempDir()
	if err := s.Copy(to); err != nil {
		t.Fatal(err)
	}
	copied, err := filepath.Glob(filepath.Join(to, "*.just"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range copied {
		found.files = append(found.files, strings.TrimSuffix(filepath.Base(file), ".just"))
	}
	found.functions, found.interpreter = s.Functions(), s.Interpreter(false)
	return found
}

// compare returns the differences to what just finds in a justfile. plain is a justfile again; without one only
// files are compared.
func (s sources) compare(names []string, dump, plain string) (problems []string) {
	if s.err != nil {
		// A path that copse does not follow; everything else must be readable.
		if !strings.Contains(s.err.Error(), "several lines") {
			problems = append(problems, s.err.Error())
		}
		return problems
	}
	for _, name := range names {
		if just, copse := strings.Contains(dump, `"from-`+name+`"`), slices.Contains(s.files, name); just != copse {
			problems = append(problems, fmt.Sprintf("file %s: just %v, copse %v", name, just, copse))
		}
		if just, copse := strings.Contains("\n"+plain, "\n"+name+"(") && name != "decoy", slices.Contains(s.functions, name); plain != "" && just != copse {
			problems = append(problems, fmt.Sprintf("function %s: just %v, copse %v", name, just, copse))
		}
	}
	if plain != "" && slices.Contains(s.interpreter, "decoy") || strings.Contains(plain, "set script-interpreter := ['real") && slices.Contains(s.interpreter, "sh") {
		problems = append(problems, "interpreter "+strings.Join(s.interpreter, " "))
	}
	return problems
}
