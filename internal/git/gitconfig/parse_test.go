package gitconfig_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/gittest"
)

// texts are files that the table test, the comparison with git and the fuzz
// test begin with.
var texts = map[string]struct {
	text string
	want gitconfig.Config
	line int // of the error, 0 for none
}{
	"empty":            {text: ""},
	"byte order mark":  {text: "\ufeff[a]\nb=1\n", want: gitconfig.Config{{Key: "a.b", Value: "1"}}},
	"part of a mark":   {text: "\xef\xbb[a]\nb=1\n", line: 1},
	"no newline":       {text: "[a]\nb=1", want: gitconfig.Config{{Key: "a.b", Value: "1"}}},
	"before a section": {text: "b=1\n", want: gitconfig.Config{{Key: "b", Value: "1"}}},
	"case": {
		text: "[SeC \"SuB\"]\n\tNaMe = VaL\n[Sec.Sub]\nname = x\n",
		want: gitconfig.Config{{Key: "sec.SuB.name", Value: "VaL"}, {Key: "sec.sub.name", Value: "x"}},
	},
	"one line":       {text: "[a] b = 1 ; c\n[d] # e\n", want: gitconfig.Config{{Key: "a.b", Value: "1"}}},
	"two headers":    {text: "[a][b]c\n", want: gitconfig.Config{{Key: "b.c", NoValue: true}}},
	"no value":       {text: "[a]\nb\nc=\nd \n", want: gitconfig.Config{{Key: "a.b", NoValue: true}, {Key: "a.c"}, {Key: "a.d", NoValue: true}}},
	"several values": {text: "[a]\nb=1\nb=2\n[a]\nb=3\n", want: gitconfig.Config{{Key: "a.b", Value: "1"}, {Key: "a.b", Value: "2"}, {Key: "a.b", Value: "3"}}},
	"CR LF":          {text: "[a]\r\nb = 1\r\nc = x\\\r\ny\r\n", want: gitconfig.Config{{Key: "a.b", Value: "1"}, {Key: "a.c", Value: "xy"}}},
	"escapes":        {text: `[a]` + "\n" + `b = \t\b\n\\\"` + "\n", want: gitconfig.Config{{Key: "a.b", Value: "\t\b\n\\\""}}},
	"bad escape":     {text: "[a]\nb = \\x\n", line: 2},
	"quotes":         {text: "[a]\nb = \" 1 ; \"2 \"# 3 \" ; 4\n", want: gitconfig.Config{{Key: "a.b", Value: " 1 ; 2 # 3 "}}},
	"open quote":     {text: "[a]\n\nb = \"1\nc = 2\n", line: 3},
	"continued":      {text: "[a]\nb = 1 \\\n  2\\\n\n", want: gitconfig.Config{{Key: "a.b", Value: "1   2"}}},
	"tabs":           {text: "[a]\nb = \t1\t2 3\r4\t; 5\nc=\"6\t7\"\n", want: gitconfig.Config{{Key: "a.b", Value: "1\t2 3\r4", Older: "1 2 3 4"}, {Key: "a.c", Value: "6\t7"}}},
	"tabs, quoted":   {text: "[a]\nb=1\"\t\"\t2\\t\t\n", want: gitconfig.Config{{Key: "a.b", Value: "1\t\t2\t", Older: "1\t 2\t"}}},
	"continued end":  {text: "[a]\nb = 1 \\", want: gitconfig.Config{{Key: "a.b", Value: "1 "}}},
	"comments":       {text: "; x\n# y\n[a] ; z\n\tb = 1#2\n\tc = \"1#2\"\n", want: gitconfig.Config{{Key: "a.b", Value: "1"}, {Key: "a.c", Value: "1#2"}}},
	"subsection": {
		text: `[a "b \"c\" \\ \t ] ünï.d"]` + "\nx = 1\n",
		want: gitconfig.Config{{Key: `a.b "c" \ t ] ünï.d.x`, Value: "1"}},
	},
	"old and new form": {text: "[a.B \"C\"]\nx=1\n", want: gitconfig.Config{{Key: "a.b.C.x", Value: "1"}}},
	"empty subsection": {text: "[a \"\"]\nx=1\n", want: gitconfig.Config{{Key: "a..x", Value: "1"}}},
	"not UTF-8":        {text: "[a]\nx=\xff\xfe\n", want: gitconfig.Config{{Key: "a.x", Value: "\xff\xfe"}}},
	"digits":           {text: "[1a-2]\nx-1=1\n", want: gitconfig.Config{{Key: "1a-2.x-1", Value: "1"}}},
	"name of digits":   {text: "[a]\n1=1\n", line: 2},
	"underscore":       {text: "[a]\nx_y=1\n", line: 2},
	"no bracket":       {text: "[a\nb=1\n", line: 1},
	"no name":          {text: "[]\nb=1\n", line: 1},
	"no closing quote": {text: "[a \"b]\n", line: 1},
	"after the quote":  {text: "[a \"b\" ]\n", line: 1},
	"no quotes":        {text: "[a b]\n", line: 1},
	"no equals sign":   {text: "[a]\nb : 1\n", line: 2},
}

func TestParse(t *testing.T) {
	t.Parallel()
	for name, tt := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := gitconfig.Parse([]byte(tt.text))
			if tt.line > 0 {
				syntax, ok := errors.AsType[*gitconfig.SyntaxError](err)
				if !ok || syntax.Line != tt.line {
					t.Errorf("error is %v, want one for line %d", err, tt.line)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
		})
	}
}

// What is put together from the pieces of a configuration file is read, or
// refused, as git does.
func TestParseAgreesWithGit(t *testing.T) {
	t.Parallel()
	git := gittest.New(t)
	file := filepath.Join(gittest.Dir(t), "config")
	older := !git.AtLeast(2, 45)
	read := func(cfg gitconfig.Config) []string {
		out := make([]string, len(cfg))
		for i, e := range cfg {
			switch {
			case e.NoValue:
				out[i] = e.Key
			case older && e.Older != "":
				out[i] = e.Key + "=" + e.Older
			default:
				out[i] = e.Key + "=" + e.Value
			}
		}
		return out
	}
	compare := func(t interface{ Errorf(string, ...any) }, text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Errorf("%v", err)
			return
		}
		list, gitErr := git.Try(git.Home, "config", "--file", file, "--no-includes", "--list", "-z")
		got, err := gitconfig.Parse([]byte(text))
		if (err != nil) != (gitErr != nil) {
			t.Errorf("%q: error is %v, git's is %v", text, err, gitErr)
			return
		}
		if err != nil {
			return
		}
		if diff := cmp.Diff(read(gitconfig.ParseList([]byte(list))), read(got)); diff != "" {
			t.Errorf("%q (-git +got):\n%s", text, diff)
		}
	}
	for _, tt := range texts {
		compare(t, tt.text)
	}
	if testing.Short() {
		t.Skip("generated files take a process each")
	}
	pieces := []string{
		"[", "]", "[core]\n", "[a \"", "\"", "\"]", "[a.b]", "\\", "\\n", "\\\"", "\\\n", "\n", "\n", "\r\n", "\r",
		" ", "  ", "\t", "=", " = ", "key", "Key", "x-1", "9", "#", ";", ".", "value", "ü", "\xff", "~", "path",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(t, "pieces"), "")
		if rapid.Bool().Draw(t, "in a section") {
			text = "[s]\nkey = " + text
		}
		compare(t, text)
	})
}

func FuzzParse(f *testing.F) {
	for _, tt := range texts {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := gitconfig.Parse(text)
		if _, ok := errors.AsType[*gitconfig.SyntaxError](err); err != nil && !ok {
			t.Errorf("error is %T, want a *SyntaxError", err)
		}
		for _, e := range cfg {
			if e.Key == "" || e.NoValue && e.Value != "" {
				t.Errorf("entry %+v makes no sense", e)
			}
		}
	})
}
