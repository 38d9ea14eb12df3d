package projectcontext

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/docker"
	"github.com/copse-dev/copse/internal/failure"
)

func TestSection(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	defer close(hang)
	for name, tt := range map[string]struct {
		read               func(context.Context) (Content, error)
		empty, unavailable string
		content            bool
	}{
		"known":   {read: func(context.Context) (Content, error) { return Project{}, nil }, content: true},
		"empty":   {read: func(context.Context) (Content, error) { return nil, emptyError("no file") }, empty: "no file"},
		"failed":  {read: func(context.Context) (Content, error) { return nil, errors.New("it broke") }, unavailable: "it broke"},
		"partial": {read: func(context.Context) (Content, error) { return Project{}, errors.New("it broke") }, unavailable: "it broke", content: true},
		"worded": {read: func(context.Context) (Content, error) {
			return nil, &failure.Error{What: func(w failure.Words) string { return "run " + w.Track }}
		}, unavailable: "run copse"},
		"hanging": {read: func(context.Context) (Content, error) {
			<-hang
			return Project{}, nil
		}, unavailable: "no answer within 10ms"},
	} {
		t.Run(name, func(t *testing.T) {
			got := source{name: "a", title: "A", limit: 10 * time.Millisecond, read: tt.read}.section(t.Context(), failure.Words{Track: "copse"})
			if got.Empty != tt.empty || got.Unavailable != tt.unavailable || (got.Content != nil) != tt.content || got.Title != "A" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// engine has containers that all failed.
type engine struct{ failed int }

func (e engine) Containers(context.Context, string) ([]docker.Container, error) {
	var list []docker.Container
	for i := range e.failed {
		list = append(list, docker.Container{Name: fmt.Sprintf("job-%d", i), State: "dead", Ours: true})
	}
	return list, nil
}

func (engine) Logs(context.Context, string, int) (string, error) { return "", nil }

func TestFailingContainersAreLimited(t *testing.T) {
	t.Parallel()
	for n, omitted := range map[int]int{maxFailing: 0, maxFailing + 1: 1} {
		g := gathering{Sources: Sources{Containers: engine{n}, Now: time.Now}}
		content, err := g.containers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, ok := content.(Containers)
		if !ok || len(got.Failing) != maxFailing || got.Omitted != omitted {
			t.Errorf("%d failed: got %+v", n, content)
		}
	}
}

// An interrupted Gather returns an error, not a partial context.
func TestGatherIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Sources{Now: time.Now}).Gather(ctx, Request{Sections: []string{"none"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// The sources are those that a caller can name.
func TestNames(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range (&gathering{}).sources(false) {
		names = append(names, s.name)
	}
	if diff := cmp.Diff(Names(), names); diff != "" {
		t.Error(diff)
	}
}
