package library_test

import (
	"fmt"
	"strings"
	"testing"
)

func tenThousand(b *testing.B) directories {
	b.Helper()
	entries := make([]string, 10_000)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"c1":"domain%d","c2":"write-%d","c3":"text%d","description":"Review the changes of a service and write a text of %d words 変更を確認する",
			"usage":"","options":{"edition":["default"],"adaptation":"","file":false,"stdin":true,"destination":""},"uv":""}`, i%50, i%200, i, i%13)
	}
	return files(b, map[string]string{"ws/.agent/team/registry.json": `{"tools":{"commands":[` + strings.Join(entries, ",") + `]}}`})
}

func BenchmarkFirstOpen(b *testing.B) {
	f := tenThousand(b)
	for b.Loop() {
		if _, err := f.library().Open("team"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFirstSearch(b *testing.B) {
	f := tenThousand(b)
	for b.Loop() {
		c, err := f.library().Open("team")
		if err != nil || len(c.Search("review the changes", 5)) != 5 {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenAgain(b *testing.B) {
	f := files(b, map[string]string{"ws/.agent/team/registry.json": registry("a")})
	l := f.library()
	for b.Loop() {
		if _, err := l.Open("team"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearchAgain(b *testing.B) {
	c, err := tenThousand(b).library().Open("team")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if len(c.Search("review the changes of a service 変更を確認", 5)) != 5 {
			b.Fatal("nothing is found")
		}
	}
}
