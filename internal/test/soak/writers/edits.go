package writers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/test/soak/rig"
)

// EditedMeanwhile installs and uninstalls a client's entry while another program, which knows
// of no lock, edits the same file. None of that program's edits may be lost.
func EditedMeanwhile(r *rig.Rig) ([]rig.Result, error) {
	res := rig.Result{What: "edits of another program while a client is configured"}
	dir, err := r.Repository("edited")
	if err != nil {
		return nil, err
	}
	home := filepath.Join(r.Dir, "home")
	config := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(config, []byte(`{"edits": 0}`), 0o600); err != nil {
		return nil, err
	}
	installs, refused, reason := 0, 0, ""
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			cmd := exec.CommandContext(r.Context, r.Copse(), "mcp", []string{"install", "uninstall"}[n%2], "--client", "cursor")
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home)
			if out, err := cmd.CombinedOutput(); err != nil {
				refused++
				reason = ": " + strings.TrimSpace(string(out))
			}
			installs++
		}
	}()
	for edit := 1; res.Tried < 200 || r.GoOn(); edit++ {
		lost, err := editOnce(config, edit)
		if err != nil {
			return nil, err
		}
		res.Tried++
		if lost {
			res.Lost++
		} else {
			res.Survived++
		}
		time.Sleep(time.Duration(r.Random.Int64N(int64(10 * time.Millisecond))))
	}
	close(stop)
	if err := <-stopped; err != nil {
		return nil, err
	}
	res.Note = fmt.Sprintf("over %d installs, of which %d gave up%s", installs, refused, reason)
	return []rig.Result{res}, nil
}

// editOnce counts up a number in the file, as a program does that replaces it without looking
// at others, and reports whether the number before was lost.
func editOnce(path string, edit int) (lost bool, err error) {
	file, err := readEdits(path)
	if err == nil && file["edits"] != float64(edit-1) {
		// For a moment after it was made, an edit can be out of place.
		time.Sleep(50 * time.Millisecond)
		file, err = readEdits(path)
	}
	if err != nil {
		return false, err
	}
	lost = file["edits"] != float64(edit-1)
	file["edits"] = edit
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(file); err != nil {
		return lost, err
	}
	if err := os.WriteFile(path+".edit", b.Bytes(), 0o600); err != nil {
		return lost, err
	}
	return lost, os.Rename(path+".edit", path)
}

func readEdits(path string) (map[string]any, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file map[string]any
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w: %.100s", path, err, text)
	}
	return file, nil
}
