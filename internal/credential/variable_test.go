package credential_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/credential"
)

// Programs that somebody else chose to run get no login, and the rest is usable.
func TestPublic(t *testing.T) {
	t.Parallel()
	got := credential.Public([]string{
		"PATH=/bin?a@b", "EMPTY=", "GH_TOKEN=t", "copse_x_token=t", "GIT_CONFIG_PARAMETERS='a.b=c'", "COPSE_ITEMS=local",
		"HTTPS_PROXY=http://p:1/#token=t", "https_proxy=ada:t@p:1", "HTTP_PROXY=http://p:1", "ALL_PROXY=http://ada:t@p/?x", "all_proxy=http://ada:t@p/token=t",
		"FTP_PROXY=ftp://ada:t@p", "ftp_proxy=ada:t@p:1", "npm_config_https_proxy=http://ada:t@p", "NO_PROXY=a;b=c", "RSYNC_PROXY=p:1",
		"GITHUB_API_URL=https://h/api;token=t", "GITHUB_SERVER_URL=https://h/api", "DOCKER_HOST=tcp://h/token=t",
		"SOCKS_PROXY=http://h/0123456789abcdefghij", "docker_host=unix:///run/0123456789abcdefghij/docker.sock", "RSYNC_PROXY=h/0123456789abcdefghij/x",
		"SSHPASS=t", "SSH_ASKPASS=/bin/ask", "GIT_PROXY_COMMAND=proxy https://ada:t@h/",
		"GIT_CONFIG_COUNT=7",
		"GIT_CONFIG_KEY_0=http.https://h/.extraHeader", "GIT_CONFIG_VALUE_0=AUTHORIZATION: bearer t",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*",
		"GIT_CONFIG_KEY_2=url.https://ada:t@h/.insteadOf", "GIT_CONFIG_VALUE_2=h:",
		"GIT_CONFIG_KEY_3=url.git@h:.insteadOf", "GIT_CONFIG_VALUE_3=https://h/",
		"GIT_CONFIG_KEY_4=git-town.github-token", "GIT_CONFIG_VALUE_4=t",
		"GIT_CONFIG_KEY_5=http.proxy", "GIT_CONFIG_VALUE_5=ada:t@p:1",
		"GIT_CONFIG_KEY_6=sendemail.smtpPass", "GIT_CONFIG_VALUE_6=!t",
	})
	want := []string{
		"PATH=/bin?a@b", "EMPTY=", "https_proxy=http://p:1", "HTTP_PROXY=http://p:1",
		"FTP_PROXY=ftp://p", "ftp_proxy=http://p:1", "npm_config_https_proxy=http://p", "NO_PROXY=a;b=c", "RSYNC_PROXY=p:1",
		"GITHUB_SERVER_URL=https://h/api", "docker_host=unix:///run/0123456789abcdefghij/docker.sock", "SSH_ASKPASS=/bin/ask",
		"GIT_CONFIG_COUNT=7",
		"GIT_CONFIG_KEY_0=copse.withheld", "GIT_CONFIG_VALUE_0=",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*",
		"GIT_CONFIG_KEY_2=copse.withheld", "GIT_CONFIG_VALUE_2=",
		"GIT_CONFIG_KEY_3=url.git@h:.insteadOf", "GIT_CONFIG_VALUE_3=https://h/",
		"GIT_CONFIG_KEY_4=copse.withheld", "GIT_CONFIG_VALUE_4=",
		"GIT_CONFIG_KEY_5=copse.withheld", "GIT_CONFIG_VALUE_5=",
		"GIT_CONFIG_KEY_6=copse.withheld", "GIT_CONFIG_VALUE_6=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Commands of git with a password are withheld, in variables and in settings. Those that take it from elsewhere, and
// those without one, remain.
func TestPublicCommands(t *testing.T) {
	t.Parallel()
	for command, withheld := range map[string]bool{
		"sshpass -p t ssh": true, "sshpass -pt ssh -v": true, "/usr/bin/sshpass -v -p 't u' ssh": true, `"C:\\sshpass.exe" -p t ssh`: true,
		"sshpass -P prompt -p t ssh": true, "sshpass -vp t ssh": true, "SSHPASS=t sshpass -e ssh": true, "plink -pw t": true, "env PASSWORD='t u' ssh": true,
		"helper --token t": true, "helper --token=t": true, `helper --api-token "t"`: true, "ask --password=t": true, "ssh -J https://ada:t@h/": true,
		"sshpass -p %t ssh": true, "sshpass -p -t ssh": true, `"sshpass" "-p" "t" ssh`: true, "sshpass '-p' t ssh": true, "sshpass -p \\\n t ssh": true, "sshpass -p '$t' ssh": true,
		"sh -c 'sshpass -p \"t u\" ssh'": true, `ssh -o ProxyCommand="sshpass -p t ssh h"`: true, "helper --api-key t": true, "helper --pass-phrase=t": true, "helper --token-value t": true,
		`helper "--token" t`: true, "API_KEY=t helper": true, "!printf 'username=ada\\npassword=t\\n'": true, "helper --password=%t0p": true, `helper "$(ask --token t)"`: true,
		"!f() { echo username=ada; echo password=t; }; f": true, `!f() { echo "password=t"; }; f`: true, `!echo password="t"`: true,
		"sh -c 'sshpass -p \"$T\" ssh'": false, "sshpass -p $(cat file) ssh": false, "sshpass -p `cat file` ssh": false, "sshpass -P prompt -e ssh": false, "ssh -p 22 # sshpass": false,
		`!printf "username=%s\npassword=%s\n" "$U" "$T"`: false, "!echo password=$(pass show git)": false, "helper --api-key-file t": false, "helper --token; ssh": false, `!echo "password=\"$T\""`: false,
		"ssh": false, "ssh -i key": false, "ssh -i ~/.ssh/token -o IdentitiesOnly=yes": false, "ssh -o PasswordAuthentication=no -o NumberOfPasswordPrompts=0": false,
		"sshpass -e ssh -p 22": false, "sshpass -f file ssh -p 22": false, `sshpass -p "$PASSWORD" ssh`: false, "SSH_ASKPASS=/bin/ask ssh -p 22": false,
		"store --file ~/.git-credentials": false, "cache --timeout=3600": false, "!gh auth git-credential": false, "!pass show token": false,
		`!f() { echo "password=${GITHUB_TOKEN}"; }; f`: false, `!f() { echo password="$(pass show git)"; }; f`: false, `!f() { printf 'password=%s' "$T"; }; f`: false,
		"helper --token-file t": false, "helper --password -v": false, "/usr/bin/pass-git-helper -m x": false, "osxkeychain": false,
	} {
		for _, name := range credential.Commands() {
			if got := len(credential.Public([]string{name + "=" + command})) == 0; got != withheld {
				t.Errorf("%s=%s: withheld %v", name, command, got)
			}
		}
		for _, key := range []string{"core.sshCommand", "credential.helper", "credential.https://h.helper", "core.askPass", "core.gitProxy"} {
			got := credential.Public([]string{"GIT_CONFIG_KEY_0=" + key, "GIT_CONFIG_VALUE_0=" + command})
			if (got[0] == "GIT_CONFIG_KEY_0=copse.withheld" && got[1] == "GIT_CONFIG_VALUE_0=") != withheld {
				t.Errorf("%s=%s: %q", key, command, got)
			}
		}
	}
}
