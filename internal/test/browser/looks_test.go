package browser_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/copse-dev/copse/internal/test/demo"
	"github.com/copse-dev/copse/internal/test/need"
)

// axe returns the script that finds what people with a screen reader or a keyboard stumble over.
func axe(t *testing.T) string {
	t.Helper()
	path := filepath.Join("..", "clients", "node_modules", "axe-core", "axe.min.js")
	if !need.Present(path) {
		need.Skip(t, "axe-core is not installed; run npm ci in internal/test/clients")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// accessible fails the test for each violation that axe-core reports.
func (b *tab) accessible(script string) {
	b.t.Helper()
	found := eval[[]string](b, script+`;
axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target + " " + n.failureSummary).join("; ")))`)
	for _, f := range found {
		b.t.Errorf("axe-core: %s", f)
	}
}

// looks compares the page with a small picture of the test.
func (b *tab) looks(name string) {
	b.t.Helper()
	b.looksLike(filepath.Join("testdata", name+".png"), 2)
}

// looksLike compares the page with a picture, which COPSE_UPDATE=1 makes again, and which is
// smaller by a factor. Both are compared in blocks of pixels, because fonts are drawn
// differently by each version of a browser.
func (b *tab) looksLike(path string, smaller int) {
	b.t.Helper()
	eval[bool](b, `document.activeElement.blur(), document.fonts.ready.then(() => true)`)
	shot, err := png.Decode(bytes.NewReader(get(b, chromedp.CaptureScreenshot())))
	if err != nil {
		b.t.Fatal(err)
	}
	name, now := strings.TrimSuffix(filepath.Base(path), ".png"), shrunk(shot, smaller)
	if os.Getenv("COPSE_UPDATE") != "" {
		var out bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, now); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			b.t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	was, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	if was.Bounds() != now.Bounds() {
		b.t.Fatalf("%s has another size: %v", name, now.Bounds())
	}
	if share := differing(was, now); share > tolerance {
		b.t.Errorf("%s differs in %.1f%% of its blocks, more than %.0f%%; run COPSE_UPDATE=1 go test ./internal/test/browser, and look at the picture", name, share*100, tolerance*100)
	}
}

const (
	// blockSize is the edge of a block, and tolerance the share of blocks that can differ.
	blockSize = 6
	tolerance = 0.06
	// visible is how different the mean of a block must be to count.
	visible = 18
)

// shrunk returns a picture that is smaller by a factor.
func shrunk(in image.Image, by int) *image.RGBA {
	size := in.Bounds().Size().Div(by)
	out := image.NewRGBA(image.Rectangle{Max: size})
	for y := range size.Y {
		for x := range size.X {
			r, g, b := mean(in, x*by, y*by, by)
			out.SetRGBA(x, y, color.RGBA{uint8(r), uint8(g), uint8(b), 255}) //nolint:gosec // a mean of bytes
		}
	}
	return out
}

// mean returns the mean color of a square.
func mean(in image.Image, x, y, edge int) (r, g, b int) {
	n := 0
	for dy := range edge {
		for dx := range edge {
			if !(image.Point{x + dx, y + dy}).In(in.Bounds()) {
				continue
			}
			cr, cg, cb, _ := in.At(x+dx, y+dy).RGBA()
			r, g, b, n = r+int(cr>>8), g+int(cg>>8), b+int(cb>>8), n+1
		}
	}
	return r / n, g / n, b / n
}

// differing returns the share of blocks that look different.
func differing(a, b image.Image) float64 {
	size := a.Bounds().Size()
	all, bad := 0, 0
	for y := 0; y < size.Y; y += blockSize {
		for x := 0; x < size.X; x += blockSize {
			r1, g1, b1 := mean(a, x, y, blockSize)
			r2, g2, b2 := mean(b, x, y, blockSize)
			if all++; max(abs(r1-r2), abs(g1-g2), abs(b1-b2)) > visible {
				bad++
			}
		}
	}
	return float64(bad) / float64(all)
}

func abs(n int) int { return max(n, -n) }

// forms are the windows in which pages are looked at.
var forms = []struct {
	name, scheme  string
	width, height int64
}{{"wide", "light", 1440, 900}, {"dark", "dark", 1440, 900}, {"medium", "light", 900, 800}, {"phone", "light", 390, 844}}

// TestLooks opens each view, wide and narrow, light and dark, and compares it with a picture.
// None of them has a barrier that axe-core knows.
func TestLooks(t *testing.T) {
	chromium(t)
	script := axe(t)
	s := serve(t, demo.New(t))
	b := open(t, s.link("stacks"), chromedp.EmulateViewport(1440, 900))
	b.until("GitHub has answered", `!!document.querySelector("#top .fresh time") && document.querySelector(".chip.blue") !== null`)
	base := strings.TrimSuffix(eval[string](b, "document.baseURI"), "/") + "/"
	for _, page := range []struct {
		name, address string
		picture       bool // of pages that are the same each time
	}{
		{"stacks", "stacks?branch=feature%2FSHOP-7-login", true},
		{"worktrees", "worktrees", true},
		{"items", "items/2", true},
		{"tree", "items?view=tree", false},
		{"create", "items?new=1", false},
		{"delete", "items/2?delete=1", false},
		{"tasks", "tasks", false},
		{"prompts", "prompts?agent=climpt&c1=git&c2=write&c3=commit-message&render=1", false},
		{"search", "search?q=login", false},
		{"health", "health", false},
		{"keys", "keys", false},
	} {
		for _, form := range forms {
			t.Run(page.name+"/"+form.name, func(t *testing.T) {
				b := b.again(t)
				b.do(chromedp.EmulateViewport(form.width, form.height), media("prefers-color-scheme", form.scheme),
					chromedp.Navigate(base+page.address), chromedp.WaitVisible(chromedp.CSS("#main h1")))
				b.live()
				b.accessible(script)
				if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > int(form.width) {
					t.Errorf("the page is %d pixels wide, more than the window", wide)
				}
				if cut := eval[[]string](b, `[...document.querySelectorAll("#sections .card")].filter((c) => c.scrollHeight > c.clientHeight + 1).map((c) => c.getAttribute("aria-label"))`); len(cut) > 0 {
					t.Errorf("cards are cut off: %q", cut)
				}
				if page.picture {
					b.looks(fmt.Sprintf("%s-%s", page.name, form.name))
				}
			})
		}
	}
}

// TestWithoutLogin looks at the one page that a browser without a login sees, which is like the
// others and asks for no other file.
func TestWithoutLogin(t *testing.T) {
	chromium(t)
	script := axe(t)
	s := serve(t, demo.New(t))
	used := s.link("stacks")
	open(t, used)
	u, err := url.Parse(used)
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{Tab: started.Tab(t, u.Host, nil), t: t}
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			b := b.again(t)
			b.do(chromedp.EmulateViewport(form.width, form.height), media("prefers-color-scheme", form.scheme), chromedp.Navigate(used), chromedp.WaitVisible(chromedp.CSS("h1")))
			if n := eval[int](b, `performance.getEntriesByType("resource").length`); n != 0 {
				t.Errorf("the page asks for %d files", n)
			}
			if got := eval[string](b, `getComputedStyle(document.querySelector("h1")).fontSize + " " + getComputedStyle(document.querySelector("main")).maxWidth`); got != "16px 560px" {
				t.Errorf("the page has no style: %s", got)
			}
			b.accessible(script)
			b.looks("login-" + form.name)
			b.Forgive() // the browser notes the status
		})
	}
	b.Forgive()
}
