package repolist

import (
	"errors"
	"path"
	"strings"
)

// Path returns the location of twig's list on a system: goos is the name in runtime.GOOS, getenv
// looks up an environment variable, and home is the user's home directory, empty if there is none.
func Path(goos string, getenv func(string) string, home string) (string, error) {
	var file string
	switch goos {
	case "windows":
		roaming := strings.TrimRight(getenv("APPDATA"), `\/`)
		if roaming == "" && home != "" {
			roaming = strings.TrimRight(home, `\/`) + `\AppData\Roaming`
		}
		if roaming != "" {
			file = roaming + `\twig\data\registry.json`
		}
	case "darwin":
		if home != "" {
			file = path.Join(home, "Library/Application Support/eddieland.twig/registry.json")
		}
	default:
		if data := getenv("XDG_DATA_HOME"); path.IsAbs(data) {
			file = path.Join(data, "twig/registry.json")
		} else if home != "" {
			file = path.Join(home, ".local/share/twig/registry.json")
		}
	}
	if file == "" {
		return "", errors.New("find the list of repositories: the environment names no home directory; set HOME")
	}
	return file, nil
}
