package copse_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/hostenv"
)

// variable is an environment variable, or several that belong together.
type variable struct {
	names                  []string
	value, without, effect string
}

func names(list ...string) []string { return list }

// environment is what the reference says about the variables that copse reads.
// TestEnvironmentIsComplete compares it with the code.
var environment = []struct {
	title     string
	variables []variable
}{
	{"Work items", []variable{
		{names("COPSE_ITEMS"), "address of a PostgreSQL database, or local", "`items.database` in your settings, else files", "The location of the work items. `local` selects files."},
		{names("PGHOST", "PGPORT", "PGUSER", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGSERVICEFILE", "PGSSLMODE", "PGSSLROOTCERT"), "as for psql", "`~/.pgpass`, `~/.pg_service.conf`; the certificate of a remote host is checked", "The host, the login, the service, and the encryption of the database. Other variables of psql also apply, but `copse mcp install` does not pass them on."},
		{names("VISUAL", "EDITOR"), "command line", "the command fails", "The editor for `--edit` and `copse item open`. `VISUAL` takes precedence."},
		{names("USER", "LOGNAME", "USERNAME"), "name", "the name of the account", "The person named in claims, in the history, and in comments. copse uses the first variable that is set."},
	}},
	{"GitHub and Jira", []variable{
		{names("NETRC"), "path", "`~/.netrc`", "The file with logins for GitHub and Jira."},
		{names("GH_TOKEN", "GITHUB_TOKEN"), "token", "the login of `gh`", "The login for github.com, if the netrc file has none. copse sends it to a host of ghe.com only if that is the host in `GH_HOST` or `GITHUB_SERVER_URL`, or `gh` has a login for it."},
		{names("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"), "token", "the login of `gh`", "The login for a GitHub Enterprise server. copse sends it only to the host in `GH_HOST`."},
		{names("GH_HOST"), "host", "the host of the remote `origin`", "The GitHub Enterprise server to which the tokens in the environment belong."},
		{names("GH_CONFIG_DIR"), "directory", "`gh` in `XDG_CONFIG_HOME`", "The directory of the configuration of `gh`, which gives copse its login."},
		{names("GITHUB_API_URL"), "URL", "the API of the host", "The address of the API, for github.com or the host in `GITHUB_SERVER_URL`."},
		{names("GITHUB_SERVER_URL"), "URL", "https://github.com", "The host to which `GITHUB_API_URL` belongs."},
		{names("JIRA_HOST"), "host or URL", "`jira.host` in your settings", "The Jira server."},
		{names("JIRA_EMAIL", "JIRA_TOKEN"), "email address, API token", "`JIRA_PAT`", "The login for Jira Cloud. Both are required."},
		{names("JIRA_PAT"), "token", "the netrc file", "The personal access token for Jira Data Center."},
		{names("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"), "as for curl; lower case also applies", "no proxy", "The proxy for GitHub and Jira. Only git reads `ALL_PROXY`."},
		{names("SSL_CERT_FILE", "SSL_CERT_DIR"), "file, directories", "the system's", "The certificates that copse trusts. Not on macOS and Windows."},
	}},
	{"Git", []variable{
		{names("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"), "as for git", "git's own", "The configuration of git. The names of the last two end in a number."},
		{names("GIT_CONFIG_PARAMETERS"), "as git sets it", "none", "The settings that git passes to programs. copse does not use them, and removes their logins from its output."},
		{names("GIT_CEILING_DIRECTORIES"), "directories", "none", "Directories above which copse does not search for a repository."},
		{names("SUDO_UID"), "a number", "none", "The account that called sudo, whose repositories root accepts, as in git."},
		{names("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"), "name, email address", "`user.name` and `user.email`", "The author of commits to the branch of a shared store."},
		{names("GIT_SSH_COMMAND", "SSH_AUTH_SOCK", "GIT_ASKPASS"), "as for git", "none", "How git reaches the remote of a shared store."},
		{names("SSHPASS"), "password", "none", "The password for `sshpass -e` in `GIT_SSH_COMMAND`. copse only removes it from its output."},
	}},
	{"Files of copse", []variable{
		{names("HOME", "USERPROFILE"), "directory", "features that need files fail", "Your home directory; on Windows `USERPROFILE`, and for git `HOMEDRIVE` with `HOMEPATH`."},
		{names("XDG_CONFIG_HOME"), "absolute path", "`~/.config`", "`copse/config.yml`, and the tokens of `copse up`. Not on macOS and Windows."},
		{names("XDG_STATE_HOME"), "absolute path", "`~/.local/state`", "Runs of tasks, ports, tokens of contexts, and what copse records about clients' entries. Not on macOS and Windows."},
		{names("XDG_CACHE_HOME"), "absolute path", "`~/.cache`", "Answers of services, large stores, and conflicts. Not on macOS and Windows."},
		{names("XDG_DATA_HOME"), "absolute path", "`~/.local/share`", "twig's list of repositories. Not on macOS and Windows."},
		{names("XDG_RUNTIME_DIR"), "absolute path", "`/run/user/UID`, else `/tmp/copse-UID`", "The socket of `copse up`, and the list of clients and their worktrees."},
		{names("APPDATA", "LOCALAPPDATA"), "directory", "set by Windows", "The directories of Windows for the files above."},
	}},
	{"Terminal, programs, and containers", []variable{
		{names("NO_COLOR"), "any, but not empty", "colors at a terminal", "No colors."},
		{names("CLICOLOR"), "0", "colors at a terminal", "No colors."},
		{names("TERM"), "dumb", "colors at a terminal", "No colors, and no progress."},
		{names("PATH", "PATHEXT"), "directories; on Windows the extensions of programs", "programs are not found", "Where copse finds `git`, `gh`, `just`, and `deno`. copse ignores relative directories."},
		{names("DOCKER_HOST"), "unix, npipe, tcp, or http address", "the socket of Docker or Podman", "The container engine."},
		{names("DOCKER_CERT_PATH"), "directory", "no certificates", "The certificates for a container engine at a tcp address."},
	}},
	{"Clients", []variable{
		{names("CLAUDE_CONFIG_DIR"), "absolute path", "`~`, and `~/.claude`", "Where Claude Code keeps its files."},
		{names("CODEX_HOME"), "absolute path", "`~/.codex`", "Where Codex keeps its files."},
		{names("COPILOT_HOME"), "absolute path", "`~/.copilot`", "Where Copilot CLI keeps its files."},
		{names("GEMINI_CLI_HOME"), "absolute path", "`~`", "The directory above `.gemini`."},
		{names("QWEN_HOME"), "absolute path", "`~/.qwen`", "Where Qwen Code keeps its files."},
	}},
}

// environmentReference is the part of the reference about the environment.
func environmentReference() []byte {
	var b bytes.Buffer
	b.WriteString(`
## Environment variables

copse passes no token, password, or login in an address or a command of this table to recipes that an assistant starts, unless ` + "`tasks.pass_credentials`" + ` is set.
`)
	for _, group := range environment {
		fmt.Fprintf(&b, "\n### %s\n\n| variable | value | without it | effect |\n|---|---|---|---|\n", group.title)
		for _, v := range group.variables {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", strings.Join(v.names, "`, `"), v.value, v.without, v.effect)
		}
	}
	return b.Bytes()
}

// unlisted are variables that only other programs read, or that clients alone set.
var unlisted = []string{"HOMEDRIVE", "HOMEPATH", "SYSTEMROOT", "http_proxy", "https_proxy", "all_proxy", "no_proxy"}

// TestEnvironmentIsComplete compares the reference with the variables that the code looks up.
func TestEnvironmentIsComplete(t *testing.T) {
	t.Parallel()
	looked := make(map[string]string)
	for _, name := range hostenv.Variables() {
		looked[name] = "internal/hostenv"
	}
	upper := regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_?$`)
	lookups := []string{"Getenv", "getenv", "env", "unset", "Get", "Lookup", "LookupEnv"}
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		switch name = filepath.ToSlash(name); {
		case err != nil:
			return err
		case d.IsDir() && strings.HasSuffix(name, "test"): // what only tests use
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		constants := make(map[string]string)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i, v := range spec.Values {
					if text, ok := literal(v); ok && i < len(spec.Names) {
						constants[spec.Names[i].Name] = text
					}
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok || !slices.Contains(lookups, called(call)) {
				return true
			}
			for _, arg := range call.Args {
				text, ok := literal(arg)
				if id, is := arg.(*ast.Ident); is {
					text, ok = constants[id.Name]
				}
				if sum, is := arg.(*ast.BinaryExpr); is {
					text, ok = literal(sum.X)
				}
				if ok && upper.MatchString(text) {
					looked[text] = name
				}
			}
			return true
		})
		return nil
	})
	if err != nil || len(looked) < 50 {
		t.Fatalf("found only %d variables, %v", len(looked), err)
	}
	listed := make(map[string]bool)
	for _, group := range environment {
		for _, v := range group.variables {
			for _, name := range v.names {
				listed[name] = true
			}
		}
	}
	for name, where := range looked {
		if !listed[name] && !slices.Contains(unlisted, name) {
			t.Errorf("%s reads %s, which the reference does not list: add it to environment in environment_test.go", where, name)
		}
	}
	// The other direction: nothing is listed that the code does not mention.
	code := sources(t)
	for name := range listed {
		if _, ok := looked[name]; !ok && !strings.Contains(code, `"`+name+`"`) {
			t.Errorf("the reference lists %s, which nothing reads", name)
		}
	}
}

// literal returns the value of a string literal.
func literal(e ast.Expr) (string, bool) {
	basic, ok := e.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(basic.Value)
	return text, err == nil
}

// called returns the name of the function that a call calls.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// sources returns the text of all packages but their tests.
func sources(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		b.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
