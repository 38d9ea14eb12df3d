package lockedstore_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/copse-dev/copse/internal/lockedstore"
)

// Two changes of a counter run one after the other, in whatever processes they are: each
// reads what the other has written.
func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store := lockedstore.New(dir, ".lock", time.Second)
	count := func(tx *lockedstore.Tx) error {
		n := 0
		if data, err := tx.Root().ReadFile("counter"); err == nil {
			if n, err = strconv.Atoi(string(data)); err != nil {
				return err
			}
		}
		return tx.Write(lockedstore.File{Name: "counter", Data: []byte(strconv.Itoa(n + 1))})
	}
	for range 2 {
		if err := store.Change(context.Background(), count); err != nil {
			fmt.Println(err)
			return
		}
	}
	data, err := os.ReadFile(dir + "/counter")
	fmt.Println(string(data), err)
	// Output: 2 <nil>
}
