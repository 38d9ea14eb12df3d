package setting_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/secret/setting"
)

// in returns the passwords in a setting.
func in(key, value string) []string {
	var all []string
	setting.In(key, value, secret.InURL, func(_, password string) {
		if password != "" {
			all = append(all, password)
		}
	})
	return slices.Compact(all)
}

// The password of a command is known as the shell passes it on, whatever command of git contains it.
func TestCommand(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][]string{
		`sshpass -P assphrase -p s3cret ssh`:                                    {"s3cret"},
		`sshpass -p a\ b"c d"'e f' ssh`:                                         {"a bc de f"},
		"sshpass -p \\\n s3cret ssh":                                            {"s3cret"},
		`"C:\\tools\\sshpass.exe" -v -ps3cret ssh`:                              {"s3cret"},
		`sshpass -v -f -p ssh`:                                                  nil,
		`sshpass -p '$ecret' ssh`:                                               {"$ecret"},
		`sh -c "sshpass -p '\$ecret' ssh"`:                                      {"$ecret"},
		`sh -c "sshpass -p \$T ssh"`:                                            nil,
		`PASSWORD='a b' "TOKEN=c d" x`:                                          {"a b", "c d"},
		`!printf 'username=ada\npassword=s3cret\n'`:                             {"s3cret"},
		`!printf 'password=%s\nquit=1\n' "$T"`:                                  nil,
		`x --password %TOKEN%`:                                                  nil,
		`x --password=%s3cret`:                                                  {"%s3cret"},
		`x --password s3cret;y --token`:                                         {"s3cret"},
		`x --token "it's`:                                                       {"it's"},
		`curl https://ada:s3cret@h/`:                                            {"s3cret"},
		`curl "https://ada:s3cret@h/"`:                                          {"s3cret"},
		`https://ada:s3'cret@h/`:                                                {"s3'cret"},
		`https://ada:s3"cret@h/`:                                                {`s3"cret`},
		`x 'y "--api-key" "s3cret"'`:                                            {"s3cret"},
		`curl -H "Authorization: Bearer s3cret" h`:                              {"s3cret"},
		`curl -H "Cookie: session=s3cret" h`:                                    {"session=s3cret", "s3cret"},
		`curl --header='PRIVATE-TOKEN: s3cret' h`:                               {"s3cret"},
		`curl -H "X-Api-Key:s3cret" -H "Accept: a/b" h`:                         {"s3cret"},
		`curl -H "Authorization: Bearer $T" h`:                                  nil,
		`git -c http.extraHeader="AUTHORIZATION: basic YWRhOnMzY3JldHh4" fetch`: {"YWRhOnMzY3JldHh4", "s3cretxx"},
		`git -c http.https://h/.extraHeader='x: s3cret' fetch`:                  {"s3cret"},
		`curl -su x -u ada:s3cret h`:                                            {"s3cret"},
		`/bin/curl -uada:s3cret h; x -u a:b`:                                    {"s3cret"},
		`curl --user "ada:$T" --proxy-user ada:s3cret h`:                        {"s3cret"},
		`commit -m "secret: required" --trailer 'Key: production'`:              nil,
		`docker run -u 1000:1000 x`:                                             nil,
		`x --token-file f --key k --api-key-file f -i k`:                        nil,
	} {
		for _, key := range []string{"GIT_ASKPASS", "core.sshcommand", "filter.x.clean", "diff.x.textconv"} {
			if got := in(key, command); !slices.Equal(got, want) {
				t.Errorf("%s=%s: %q, want %q", key, command, got, want)
			}
		}
	}
	if got := in("remote.o.url", "ext::sshpass -p s3cret ssh"); !slices.Equal(got, []string{"s3cret"}) {
		t.Errorf("ext: %q", got)
	}
}

// The search takes linear time, also if each word can be a command and the password of the one before.
func TestLongCommand(t *testing.T) {
	t.Parallel()
	const commands = 1000
	for _, command := range []string{"sshpass -p ", "sshpass -p sshpass ", `"sshpass -p 'sshpass -p `} {
		if got := len(in("core.sshcommand", strings.Repeat(command, commands))); got == 0 || got > 100*commands {
			t.Errorf("%s: %d passwords", command, got)
		}
	}
}
