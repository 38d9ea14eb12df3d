package backlog

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/copse-dev/copse/internal/item"
)

// maxSlug is how many characters of a proposed branch come from the title, and minSlug how many remain if
// the last word is cut off because it does not fit.
const maxSlug, minSlug = 40, 20

// branchName proposes the name of a branch for an item: tic/3-short-title.
func branchName(id item.ID, title string) string {
	var slug []rune
	for _, r := range strings.ToLower(title) {
		if len(slug) > maxSlug {
			break
		}
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			slug = append(slug, r)
		case len(slug) > 0 && slug[len(slug)-1] != '-':
			slug = append(slug, '-')
		}
	}
	if len(slug) > maxSlug {
		end := maxSlug
		for i := maxSlug; i >= minSlug; i-- {
			if slug[i] == '-' {
				end = i
				break
			}
		}
		slug = slug[:end]
	}
	name := fmt.Sprintf("tic/%d", id)
	if text := strings.Trim(string(slug), "-"); text != "" {
		name += "-" + text
	}
	return name
}
