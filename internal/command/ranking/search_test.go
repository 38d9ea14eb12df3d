package ranking_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/command/ranking"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                            "",
		" -_- ... ' !":                "",
		"Committing Changes, quickly": "commit chang quick",
		"the changes of 2 users":      "the chang of 2 user",
		"group-commit":                "group commit groupcommit",
		"code_reviews codeReviews":    "code review codereview code review codereview",
		"--uv-target=x":               "uv target uvtarget x",
		"a-b_c":                       "a b c abc",
		"-flag- _x_ 'quoted'":         "flag x quot",
		"HTTPServer v0.5":             "http server httpserver v0 5",
		"parseJSON utf8Decoder":       "pars json parsejson utf8 decod utf8decod",
		"PRs, URLs and IDs":           "pr prs url url and id id",
		"E2E iOS A":                   "e2e i os io a",
		"user's don't user’s":         "user don't user",
		"naïve Café Straße":           "naïv café straße",
		"Проверка ΑΒΓ":                "проверка αβγ",
		"Ｆｕｌｌ－ｗｉｄｔｈ　ＣＳＶ！": "full width fullwidth csv",
		"변경 사항을 커밋":       "변경 사항 항을 커밋",
		"変更をコミット":         "変更 を コミ ミッ ット",
		"見直す/見直し":         "見直 す 見直 し",
		"サーバー、ラーメン":       "サー ーバ バー ラー ーメ メン",
		"人々の時々〆切":         "人々 の 時々 々〆 〆切",
		"東":               "東",
		"Git操作ログv2を確認":    "git 操作 ログ v2 を 確認",
		"Git-フロー":         "git フロ ロー",
		"e\u0301te\u0301": "e\u0301te\u0301",
	} {
		if diff := cmp.Diff(want, strings.Join(ranking.Tokens(text), " ")); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	x := ranking.New([]string{"git commit changes", "git push", "docs write readme", "docs write readme", "", "変更をコミット"})
	tests := []struct {
		query string
		limit int
		want  []ranking.Hit
	}{
		{"readme", 10, []ranking.Hit{{Text: 2, Score: 0.5774}, {Text: 3, Score: 0.5774}}},
		{"readme", 1, []ranking.Hit{{Text: 2, Score: 0.5774}}},
		{"WRITE readmes, Docs!", 10, []ranking.Hit{{Text: 2, Score: 1}, {Text: 3, Score: 1}}},
		{"git", 10, []ranking.Hit{{Text: 1, Score: 0.6341}, {Text: 0, Score: 0.5016}}},
		{"git git", 10, []ranking.Hit{{Text: 1, Score: 0.6341}, {Text: 0, Score: 0.5016}}},
		{"push unknown", 10, []ranking.Hit{{Text: 1, Score: 0.4697}}},
		{"コミット", 10, []ranking.Hit{{Text: 5, Score: 0.7746}}},
		{"nothing of this", 10, nil},
		{"", 10, nil},
		{"git", 0, nil},
		{"git", -1, nil},
		{"git", math.MaxInt, []ranking.Hit{{Text: 1, Score: 0.6341}, {Text: 0, Score: 0.5016}}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, x.Search(tt.query, tt.limit), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: %s", tt.query, diff)
		}
	}
	if got := ranking.New(nil).Search("x", 5); len(got) != 0 {
		t.Errorf("nothing has %v", got)
	}
}

// The score is the formula of the package comment.
func TestFormula(t *testing.T) {
	t.Parallel()
	texts := []string{"a a b", "a c", "d"}
	idf := func(having float64) float64 { return math.Log(4/(1+having)) + 1 }
	a, b, d, unknown := idf(2), idf(1), idf(1), idf(0)
	query := math.Sqrt(a*a + b*b*4 + unknown*unknown)
	want := []ranking.Hit{
		{Text: 0, Score: (2*a*a + 2*b*b) / math.Sqrt(4*a*a+b*b) / query},
		{Text: 1, Score: a * a / math.Sqrt(a*a+d*d) / query},
	}
	got := ranking.New(texts).Search("a b b zzz", 5)
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(0, 0.00005)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Scores are from 0 to 1, the best first; a limit cuts and changes nothing else;
// a text finds itself.
func TestScores(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"git", "commit", "changes", "group-commit", "writeTests", "変更", "コミット", "a", "the", "x_y"})
	text := rapid.Map(rapid.SliceOfN(word, 0, 8), func(words []string) string { return strings.Join(words, " ") })
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(text, 1, 20).Draw(t, "texts")
		x := ranking.New(texts)
		query := text.Draw(t, "query")
		all := x.Search(query, len(texts))
		for i, h := range all {
			if h.Score <= 0 || h.Score > 1 || i > 0 && (h.Score > all[i-1].Score || h.Score == all[i-1].Score && h.Text < all[i-1].Text) {
				t.Fatalf("%q: %v", query, all)
			}
		}
		limit := rapid.IntRange(0, 5).Draw(t, "limit")
		if diff := cmp.Diff(all[:min(limit, len(all))], x.Search(query, limit), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		i := rapid.IntRange(0, len(texts)-1).Draw(t, "itself")
		if texts[i] == "" {
			return
		}
		if got := x.Search(texts[i], 1); len(got) != 1 || got[0].Score != 1 {
			t.Fatalf("%q finds %v", texts[i], got)
		}
	})
}

// The best of many are the first of all.
func TestBestOfMany(t *testing.T) {
	t.Parallel()
	texts := tenThousand()[:2000]
	x := ranking.New(texts)
	for _, query := range []string{"write a review", "domain7", "customer service error logs", texts[1234]} {
		all := x.Search(query, len(texts))
		for _, limit := range []int{1, 3, 100, len(all) - 1, len(all), len(all) + 1} {
			if diff := cmp.Diff(all[:min(limit, len(all))], x.Search(query, limit)); diff != "" {
				t.Fatalf("%q, %d: %s", query, limit, diff)
			}
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"a-b_cD", "変更a", "\xff\xfe", "ーーa", strings.Repeat("aB-", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, token := range ranking.Tokens(text) {
			if token == "" || strings.ContainsAny(token, " \n\t") {
				t.Errorf("%q has the token %q", text, token)
			}
		}
	})
}

// tenThousand returns texts as large registries have them.
func tenThousand() []string {
	words := strings.Fields("write review fix check plan commit branch test docs release incident security database frontend query index " +
		"changes function module service request error logs metrics customer schema migration component page form state cache")
	random := rand.New(rand.NewPCG(1, 2))
	texts := make([]string, 10_000)
	for i := range texts {
		var b strings.Builder
		fmt.Fprintf(&b, "domain%d action-%d target-%d", i%50, i%200, i)
		for range 12 {
			b.WriteString(" " + words[random.IntN(len(words))])
		}
		texts[i] = b.String()
	}
	return texts
}

func BenchmarkNew(b *testing.B) {
	texts := tenThousand()
	for b.Loop() {
		ranking.New(texts)
	}
}

func BenchmarkSearch(b *testing.B) {
	x := ranking.New(tenThousand())
	for b.Loop() {
		x.Search("write a database migration for the customer service", 5)
	}
}
