package ticfile_test

import (
	"fmt"

	"github.com/copse-dev/copse/internal/item/ticfile"
)

// The file of a work item is front matter and a description; comments follow.
func Example() {
	file, err := ticfile.Parse(`---
id: "3"
title: Show the login form
type: task
status: todo
priority: medium
created: 2026-01-02T03:04:05Z
updated: 2026-01-02T03:04:05Z
estimate: kept, although copse does not know it
---

Seen on every page.
`)
	if err != nil {
		panic(err)
	}
	it, warnings, err := file.Item()
	if err != nil {
		panic(err)
	}
	fmt.Println(it.ID, it.Title, len(warnings))
	fmt.Println(it.Description)
	// Output:
	// 3 Show the login form 0
	// Seen on every page.
}
