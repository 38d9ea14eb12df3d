package recipe_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/recipe"
)

// An error that names all recipes does not say that there are more.
func TestUnknownErrorNamesTheRest(t *testing.T) {
	t.Parallel()
	const named = 40
	known := make([]recipe.Recipe, named+1)
	for i := range known {
		known[i].Name = "r" + strconv.Itoa(i)
	}
	if text := (&recipe.UnknownError{Name: "x", Known: known[:named]}).Error(); strings.Contains(text, "more") {
		t.Error(text)
	}
	if text := (&recipe.UnknownError{Name: "x", Known: known}).Error(); !strings.HasSuffix(text, " and 1 more") {
		t.Error(text)
	}
}
