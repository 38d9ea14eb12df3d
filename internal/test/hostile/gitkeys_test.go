package hostile

import "slices"

// key returns a vector that is one configuration key of the repository.
func key(name string, value func(r *repo) string, control string, more ...func(r *repo)) vector {
	return vector{name: name, control: control, plant: func(r *repo) {
		r.config(name, value(r))
		for _, plant := range more {
			plant(r)
		}
	}}
}

// sleeping returns a key without a control.
func sleeping(name string, value func(r *repo) string, why string) vector {
	v := key(name, value, "")
	v.dormant = why
	return v
}

func set(key, value string) func(r *repo) { return func(r *repo) { r.config(key, value) } }

// origin makes an address the only one of the remote.
func origin(address string) func(r *repo) {
	return func(r *repo) {
		r.do("git config --unset-all remote.origin.url")
		r.config("remote.origin.url", address)
	}
}

func attributes(text string) func(r *repo) {
	return func(r *repo) { r.add(".gitattributes", text+"\n") }
}

// Forms of values that name the program.
func touch(r *repo) string { return r.touch() }
func bang(r *repo) string  { return r.bang() }

// line returns the program with a comment behind it, for keys whose value gets arguments.
func line(r *repo) string { return r.touch() + "; cat #" }

// path returns the program as a file.
func path(r *repo) string { return r.program("pwn" + r.mark + ".sh") }

const (
	terminal  = "git uses it at a terminal only"
	elsewhere = "a program that is not installed with git uses it"
	protected = "git reads it from the user's and the system's configuration only"
)

// gitKeys returns the keys of git's configuration whose values are programs.
func gitKeys() []vector {
	return slices.Concat(
		crowd("keys of every kind",
			key("filter.x.clean", line, "git status", attributes("* filter=x")),
			key("filter.x.smudge", line, "git checkout -q -- docs/b.txt", attributes("* filter=x")),
			key("diff.x.command", touch, "git diff", attributes("* diff=x")),
			key("gpg.openpgp.program", path, "git log", set("log.showSignature", "true"), signed("PGP SIGNATURE")),
			key("gpg.x509.program", path, "git log", set("log.showSignature", "true"), signed("SIGNED MESSAGE")),
			key("gpg.ssh.program", path, "git log", set("log.showSignature", "true"), signed("SSH SIGNATURE"), func(r *repo) {
				r.config("gpg.ssh.allowedSignersFile", r.path("root/a.txt"))
			}),
			key("core.askPass", path, `printf 'protocol=http\nhost=x\n\n' | git credential fill`),
			key("core.editor", touch, "unset EDITOR; git commit --allow-empty"),
			key("sequence.editor", touch, "git rebase -q -i main --autostash"),
			key("credential.helper", bang, `printf 'protocol=http\nhost=x\n\n' | git credential fill`),
			key("credential.https://github.com.helper", bang, `printf 'protocol=https\nhost=github.com\n\n' | git credential fill`),
			key("alias.st", bang, "git st"),
			key("trailer.x.command", touch, "git interpret-trailers --trailer x=1 a.txt", set("trailer.x.key", "x")),
			key("trailer.y.cmd", touch, "git interpret-trailers --trailer y=1 a.txt", set("trailer.y.key", "y")),
			key("tar.x.command", line, "git archive --format=x HEAD"),
			key("browser.x.cmd", touch, "git web--browse -b x http://localhost", set("web.browser", "x"), set("help.browser", "x")),
			key("browser.firefox.path", path, "git web--browse -b firefox http://localhost"),
			key("man.x.cmd", touch, "git help -m status", set("man.viewer", "x")),
			key("core.alternateRefsCommand", touch, "git rev-list --alternate-refs", func(r *repo) {
				r.do("git init -q --bare ../other.git")
				r.file(".git/objects/info/alternates", r.path("other.git/objects")+"\n")
			}),
			key("submodule.sub.update", bang, "git -C sub commit -q --allow-empty -m x; git submodule update"),
		),
		crowd("keys of hooks and tools",
			key("core.hooksPath", func(r *repo) string {
				r.program("hooks/post-index-change")
				r.program("hooks/pre-commit")
				r.program("hooks/reference-transaction")
				return r.path("root/hooks")
			}, "git status; git commit -qam x"),
			key("core.attributesFile", func(r *repo) string {
				r.config("filter.x.clean", line(r))
				r.outside("attributes", "* filter=x\n")
				return r.path("attributes")
			}, "git status"),
			key("diff.external", touch, "git diff"),
			key("diff.submodule", func(r *repo) string {
				r.configIn("root/.git/modules/sub/config", "core.fsmonitor", r.program("pwn.sh"))
				return "diff"
			}, "git diff"),
			key("gpg.program", path, "git log", set("log.showSignature", "true"), signed("PGP SIGNATURE")),
			key("man.man.path", path, "git help -m status", set("man.viewer", "man")),
			key("mergetool.x.cmd", touch, "git merge -q topic; git mergetool -y -t x", set("merge.tool", "x"), set("merge.guitool", "x")),
			key("mergetool.vimdiff.path", path, "git merge -q topic; git mergetool -y -t vimdiff"),
			key("difftool.x.cmd", touch, "git difftool -y -t x", set("diff.tool", "x"), set("diff.guitool", "x")),
			key("difftool.vimdiff.path", path, "git difftool -y -t vimdiff"),
		),
		crowd("keys of a filter that runs for long",
			key("filter.x.process", line, "git status", attributes("* filter=x")),
			key("diff.blame.textconv", line, "git blame a.txt", attributes("* diff=blame"), set("diff.blame.cachetextconv", "false")),
			key("merge.default", func(r *repo) string {
				r.config("merge.evil.driver", r.touch())
				return "evil"
			}, "git merge -q topic"),
			key("status.submoduleSummary", func(r *repo) string {
				r.configIn("root/.git/modules/sub/config", "filter.x.clean", line(r))
				r.file("sub/.gitattributes", "* filter=x\n")
				return "true"
			}, "git status"),
			key("gpg.ssh.defaultKeyCommand", path, "git commit -qS --allow-empty -m x", set("gpg.format", "ssh"), set("commit.gpgSign", "true")),
		),
		crowd("keys of a filter with a dot in its name",
			key("filter.x.y.clean", line, "git status", attributes("* filter=x.y")),
			key("diff.x.textconv", line, "git diff", attributes("* diff=x")),
		),
		crowd("keys that are dormant, and two",
			key("merge.x.driver", line, "git merge-tree --write-tree feature/login topic", attributes("* merge=x"), func(r *repo) {
				r.do("git add .gitattributes && git commit -qm attributes")
			}),
			key("core.fsmonitor", path, "git status"),
			sleeping("core.pager", touch, terminal),
			sleeping("pager.log", touch, terminal),
			sleeping("pager.status", touch, terminal),
			sleeping("pager.branch", touch, terminal),
			sleeping("alias.status", bang, "git takes no alias for a command of its own"),
			sleeping("alias.log", bang, "git takes no alias for a command of its own"),
			sleeping("trace2.eventTarget", func(r *repo) string { return r.canary() }, protected),
			sleeping("trace2.normalTarget", func(r *repo) string { return r.canary() }, protected),
			sleeping("trace2.perfTarget", func(r *repo) string { return r.canary() }, protected),
			sleeping("uploadpack.packObjectsHook", path, protected),
			sleeping("interactive.diffFilter", line, terminal),
			sleeping("instaweb.httpd", path, elsewhere),
			sleeping("instaweb.browser", path, elsewhere),
			sleeping("instaweb.modulePath", path, elsewhere),
			sleeping("guitool.x.cmd", touch, elsewhere),
			sleeping("sendemail.smtpServer", path, elsewhere),
			sleeping("sendemail.tocmd", touch, elsewhere),
			sleeping("sendemail.ccCmd", touch, elsewhere),
			sleeping("sendemail.x.sendmailCmd", touch, elsewhere),
			sleeping("sendemail.aliasesFile", path, elsewhere),
			sleeping("imap.tunnel", touch, elsewhere),
			sleeping("gitcvs.logFile", func(r *repo) string { return r.canary() }, elsewhere),
			sleeping("init.templateDir", func(r *repo) string {
				r.program("template/hooks/post-checkout")
				return r.path("root/template")
			}, protected),
		),
		// copse refuses the first one. The others change the address of the remote.
		[]vector{
			key("filter.a=b.clean", line, "git status", attributes("* filter=a=b")),
			key("core.sshCommand", touch, "git fetch", origin("ssh://localhost/x")),
			key("core.gitProxy", path, "git ls-remote", origin("git://localhost/x")),
			key("remote.origin.uploadpack", touch, "git fetch", origin(".")),
			key("remote.origin.receivepack", touch, "git push -n origin HEAD", origin(".")),
		},
	)
}

// signed adds a commit with a signature of a kind to the branch.
func signed(kind string) func(r *repo) {
	return func(r *repo) {
		r.do(`commit=$({ echo "tree $(git rev-parse HEAD^{tree})"; echo "parent $(git rev-parse HEAD)"
			git cat-file commit HEAD | sed -n '/^$/q; /^author /p; /^committer /p'
			echo 'gpgsig -----BEGIN ` + kind + `-----'; echo ' '; echo ' eA=='; echo ' -----END ` + kind + `-----'
			echo; echo signed; } | git hash-object -t commit -w --stdin)
			git update-ref HEAD "$commit"`)
	}
}
