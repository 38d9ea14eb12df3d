package itemdir

import "github.com/copse-dev/copse/internal/dirwatch"

// watcher knows which files of a directory have changed, exactly and without a wait.
type watcher struct{ queue *dirwatch.Watch }

// watch watches the directory at path; nil if that cannot be done reliably.
func watch(path string) *watcher {
	queue, err := dirwatch.Open()
	if err != nil {
		return nil
	}
	if _, err := queue.Add(path); err != nil {
		_ = queue.Close()
		return nil
	}
	return &watcher{queue}
}

// changed returns the names of the files that may have changed since the last call. If ok is false,
// that is unknown, and the watcher is unusable.
func (w *watcher) changed() (names []string, ok bool) {
	ended := false
	err := w.queue.Changed(func(c dirwatch.Change) {
		ended = ended || c.Ended
		if len(c.Name) > 0 && (len(names) == 0 || names[len(names)-1] != string(c.Name)) {
			names = append(names, string(c.Name))
		}
	})
	return names, err == nil && !ended
}

func (w *watcher) close() error { return w.queue.Close() }
