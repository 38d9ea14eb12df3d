package workspace_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/recipe"
	"github.com/copse-dev/copse/internal/recipe/runlog"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/workspace"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
)

// talks is a justfile whose recipes print a lot that JSON escapes.
type talks struct{ panics }

func (talks) Run(_ context.Context, _ recipe.Call, out io.Writer) (recipe.Run, error) {
	for i := range 10_000 {
		fmt.Fprintf(out, "%d \"quoted\" \\\t\n", i)
	}
	return recipe.Run{Task: "talk"}, nil
}

func (talks) Report(ctx context.Context, _ string, _ time.Duration) (runlog.Report, error) {
	var out strings.Builder
	_, err := talks{}.Run(ctx, recipe.Call{}, &out)
	return runlog.Report{Output: strings.ReplaceAll(out.String(), "\t", strings.Repeat("\t", 60))}, err
}

var (
	onward   = regexp.MustCompile(`continue with offset=(\d+)`)
	sideways = regexp.MustCompile(`continue it with offset=1, column=(\d+)`)
)

// copse cuts a text that a client would cut, and states where it continues.
func TestAnswersFitTheRoomOfAClient(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "%d \"quoted\" \\ \t line\n", i)
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("large.txt", text.String())
	write("line.txt", strings.Repeat(`"`, 100_000))
	for i := range 1000 {
		write(fmt.Sprintf("file-%04d", i), "")
	}
	files := project.New(dir, func(context.Context) (project.Repository, error) { return nil, nil })
	tools := workspace.New(files, talks{}, projectcontext.Sources{}, nil)
	for _, room := range []toolset.Room{{Bytes: 11_000}, {Bytes: 48_000}, {Bytes: 49_000, Lines: 100}} {
		ctx := toolset.WithRoom(t.Context(), room)
		fits := func(what string, shown any) {
			t.Helper()
			if size := page.Size(shown); size > room.Bytes+200 {
				t.Errorf("%s takes %d bytes of a room of %d", what, size, room.Bytes)
			}
		}
		var all strings.Builder
		for offset, calls := 0, 0; ; calls++ {
			out, err := tools.ReadFile(ctx, workspace.ReadIn{Path: "large.txt", Offset: offset})
			if err != nil || calls > 200 {
				t.Fatal(err, calls)
			}
			fits("a file", out.Text)
			if n := strings.Count(out.Text, "\n"); room.Lines > 0 && n > room.Lines {
				t.Errorf("%d lines are shown", n)
			}
			all.WriteString(out.Text)
			next := onward.FindStringSubmatch(out.Notice)
			if next == nil {
				break
			}
			offset, _ = strconv.Atoi(next[1])
		}
		if all.String() != text.String() {
			t.Errorf("the parts of a file are not the file in a room of %+v", room)
		}
		// A line that is too long by itself comes in parts, too.
		var line strings.Builder
		for column, calls := 0, 0; ; calls++ {
			long, err := tools.ReadFile(ctx, workspace.ReadIn{Path: "line.txt", Column: column})
			if err != nil || calls > 50 {
				t.Fatal(err, calls)
			}
			fits("a long line", long.Text)
			line.WriteString(long.Text)
			next := sideways.FindStringSubmatch(long.Notice)
			if next == nil {
				break
			}
			column, _ = strconv.Atoi(next[1])
		}
		if line.String() != strings.Repeat(`"`, 100_000) {
			t.Errorf("the parts of a line have %d bytes in a room of %+v", line.Len(), room)
		}
		task, err := tools.RunJustTask(ctx, workspace.RunIn{TaskName: "talk"})
		if err != nil || task.Truncated == 0 || !strings.Contains(task.Output, "9999") || !strings.HasPrefix(task.Output, "0 ") {
			t.Errorf("%v, %d bytes left out", err, task.Truncated)
		}
		fits("a task", task)
		got, err := tools.GetTask(ctx, workspace.GetIn{ID: "1", Tail: 1000})
		if err != nil || !strings.Contains(got.Output, "bytes left out") || !strings.Contains(got.Output, "9999") {
			t.Errorf("%v, %.200s", err, got.Output)
		}
		fits("a task in the background", got)
		limit := 5000
		list, err := tools.ListDirectory(ctx, workspace.ListIn{Path: ".", Limit: &limit})
		if err != nil || len(list.Rows)+list.Omitted != 1002 {
			t.Errorf("%v, %d rows, %d left out", err, len(list.Rows), list.Omitted)
		}
		fits("a list", list.Rows)
	}
}
