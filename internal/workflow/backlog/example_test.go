package backlog_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// A surface creates items in a backend and asks the backlog about them.
func Example() {
	dir, err := os.MkdirTemp("", "backlog")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store := local.New(location.Search{Dir: dir}, time.Now)
	defer store.Close()
	ctx := context.Background()
	if _, err := store.Init(ctx); err != nil {
		panic(err)
	}
	for _, d := range []item.Draft{
		{Title: "Show the login form"},
		{Title: "Test the login form", DependsOn: []item.ID{1}},
		{Title: "Write the manual"},
	} {
		if _, err := store.Create(ctx, d); err != nil {
			panic(err)
		}
	}

	view, err := backlog.New(store).Read(ctx)
	if err != nil {
		panic(err)
	}
	ready, _ := view.Select(backlog.Query{Filter: item.Filter{Ready: true}})
	for _, hit := range ready {
		fmt.Println("ready:", hit.ID, hit.Title)
	}
	found, _ := view.Select(backlog.Query{Text: "login"})
	for _, hit := range found {
		fmt.Println("about the login:", hit.ID, hit.Title)
	}
	fmt.Println(view.Unknown(item.Filter{Priority: "huge"})[0])
	// Output:
	// ready: 1 Show the login form
	// ready: 3 Write the manual
	// about the login: 1 Show the login form
	// about the login: 2 Test the login form
	// Invalid priority "huge". Valid priorities: low, medium, high, critical
}
