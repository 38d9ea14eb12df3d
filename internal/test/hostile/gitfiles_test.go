package hostile

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// gitFiles returns the files of git that hold or lead to what the keys are in, and those that are
// programs themselves.
func gitFiles() []vector {
	clean := func(r *repo, file string) {
		driver, _ := r.filter()
		r.configIn(file, "filter."+driver+".clean", line(r))
	}
	return slices.Concat(
		crowd("files that configure",
			vector{name: "include.path", control: "git status", plant: func(r *repo) {
				r.config("include.path", "../evil.config")
				clean(r, "root/evil.config")
				r.filtered()
			}},
			vector{name: "filter in .git/info/attributes", control: "git status", plant: func(r *repo) {
				clean(r, "root/.git/config")
				driver, files := r.filter()
				r.file(".git/info/attributes", files+" filter="+driver+"\n")
			}},
			vector{name: "required filter", control: "git status", plant: func(r *repo) {
				clean(r, "root/.git/config")
				driver, _ := r.filter()
				r.config("filter."+driver+".required", "true")
				r.filtered()
			}},
			vector{name: "filter for Git LFS, defined by the repository", control: "git status", plant: func(r *repo) {
				r.config("filter.lfs.clean", line(r))
				r.config("filter.lfs.required", "true")
				_, files := r.filter()
				r.add(".gitattributes", files+" filter=lfs diff=lfs merge=lfs -text\n")
			}},
			vector{name: "filter in the worktree's configuration", control: "git status", plant: func(r *repo) {
				r.config("extensions.worktreeConfig", "true")
				clean(r, "root/.git/config.worktree")
				r.filtered()
			}},
			vector{name: "fsmonitor in a linked worktree's configuration", control: "git -C ../linked status", plant: func(r *repo) {
				r.config("extensions.worktreeConfig", "true")
				r.configIn("root/.git/worktrees/linked/config.worktree", "core.fsmonitor", path(r))
			}},
			vector{name: "include.path with a tab, a space for older releases", control: "git status", plant: func(r *repo) {
				r.do(`printf '[include]\n\tpath = ../ev\til.config\n' >>.git/config`)
				clean(r, "root/ev il.config")
				r.filtered()
			}},
			vector{name: "include.path with a carriage return", control: "git status", plant: func(r *repo) {
				r.do(`printf '[include]\n\tpath = "../e v"\ri\tl.config\n' >>.git/config`)
				clean(r, "root/e v i l.config")
				r.filtered()
			}},
			vector{name: "include.path outside", control: "git status", plant: func(r *repo) {
				r.config("include.path", r.path("evil.config"))
				r.configIn("evil.config", "core.fsmonitor", path(r))
			}},
			vector{name: "includes of includes", control: "git status", plant: func(r *repo) {
				r.config("include.path", "one.config")
				r.configIn("root/.git/one.config", "include.path", "two.config")
				clean(r, "root/.git/two.config")
				r.filtered()
			}},
			vector{name: "includeIf gitdir", control: "git status", plant: func(r *repo) {
				r.config("includeIf.gitdir:/.path", "gitdir.config")
				clean(r, "root/.git/gitdir.config")
				r.filtered()
			}},
			vector{name: "includeIf onbranch", control: "git status", plant: func(r *repo) {
				r.config("includeIf.onbranch:feature/**.path", "onbranch.config")
				clean(r, "root/.git/onbranch.config")
				r.filtered()
			}},
			vector{name: "includeIf hasconfig", control: "git status", plant: func(r *repo) {
				r.config("includeIf.hasconfig:remote.*.url:https://**.path", "hasconfig.config")
				clean(r, "root/.git/hasconfig.config")
				r.filtered()
			}},
		),
		crowd("files of git",
			vector{name: "filter in .gitattributes of a directory", control: "git status", plant: func(r *repo) {
				clean(r, "root/.git/config")
				driver, _ := r.filter()
				r.file("docs/.gitattributes", "* filter="+driver+"\n")
				r.file("docs/b.txt", "B\n")
			}},
			vector{name: "filter for a linked worktree", control: "git -C ../linked status", plant: func(r *repo) {
				clean(r, "root/.git/config")
				driver, _ := r.filter()
				r.outside("linked/.gitattributes", "* filter="+driver+"\n")
			}},
			vector{name: "hook post-index-change", control: "git status", plant: hook("post-index-change")},
			vector{name: "hook reference-transaction", control: "git update-ref refs/heads/x HEAD", plant: hook("reference-transaction")},
			vector{name: "hook pre-commit", control: "git commit -qam x", plant: hook("pre-commit")},
			vector{name: "hook post-checkout", control: "git checkout -q main", plant: hook("post-checkout")},
			vector{name: "hook pre-push", control: "git push -q . HEAD:x", plant: hook("pre-push")},
			vector{name: "hook fsmonitor-watchman", control: "git status", plant: func(r *repo) {
				hook("fsmonitor-watchman")(r)
				r.config("core.fsmonitor", ".git/hooks/fsmonitor-watchman")
			}},
			vector{name: "hook of a submodule", control: "git -C sub status; git -C sub commit -q --allow-empty -m x", plant: func(r *repo) {
				r.program(".git/modules/sub/hooks/pre-commit")
			}},
			vector{name: "a submodule's own filter", control: "git status", plant: func(r *repo) {
				clean(r, "root/.git/modules/sub/config")
				driver, _ := r.filter()
				r.file("sub/.gitattributes", "* filter="+driver+"\n")
			}},
			vector{name: "a submodule's own fsmonitor", control: "git status", plant: func(r *repo) {
				r.configIn("root/.git/modules/sub/config", "core.fsmonitor", path(r))
			}},
			vector{name: "a submodule that nobody registered", control: "git status", plant: func(r *repo) {
				r.do("git init -q extra && cd extra && echo x >x.txt && git add . && git commit -qm x && cd .. && git add extra 2>/dev/null && git commit -qm extra")
				clean(r, "root/extra/.git/config")
				driver, _ := r.filter()
				r.file("extra/.gitattributes", "* filter="+driver+"\n")
				r.file("extra/x.txt", "x\n")
			}},
			vector{name: "mailmap and lists in files outside", dormant: "they are read, not run", plant: func(r *repo) {
				for _, key := range []string{"mailmap.file", "blame.ignoreRevsFile", "diff.orderFile", "commit.template", "core.excludesFile", "format.signatureFile"} {
					r.config(key, r.path("root/.git/HEAD"))
				}
			}},
		),
		processFiles(),
		[]vector{
			{name: ".gitmodules update", dormant: "git refuses a program in that file", plant: func(r *repo) {
				r.file(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./.\n\tupdate = "+r.bang()+"\n")
			}},
			{name: "an embedded bare repository", from: "docs", control: "git status", plant: func(r *repo) {
				embed(r, "docs")
			}},
			{name: "an embedded bare repository above", from: "docs/deep", control: "git status", plant: func(r *repo) {
				embed(r, "docs")
				r.file("docs/deep/x", "x")
			}},
			{name: "core.worktree", control: "git status", plant: func(r *repo) {
				r.outside("other/.gitattributes", "* filter=x\n")
				r.outside("other/a.txt", "LOGIN\n")
				r.config("core.worktree", r.path("other"))
				clean(r, "root/.git/config")
			}},
			{name: "a .git file", control: "git status", plant: func(r *repo) {
				r.do("mv .git ../moved.git")
				r.file(".git", "gitdir: "+r.path("moved.git")+"\n")
				clean(r, "moved.git/config")
				r.filtered()
			}},
			{name: "a .git file that leads into the repository", control: "git status", plant: func(r *repo) {
				r.do("mv .git docs/inner")
				r.file(".git", "gitdir: docs/inner\n")
				clean(r, "root/docs/inner/config")
				r.filtered()
			}},
			{name: "a link for .git", control: "git status", plant: func(r *repo) {
				r.do("mv .git docs/inner && ln -s docs/inner .git")
				r.configIn("root/docs/inner/config", "core.fsmonitor", path(r))
			}},
			{name: "a commondir", control: "git status", plant: func(r *repo) {
				r.do("cp -r .git ../common.git")
				r.file(".git/commondir", r.path("common.git")+"\n")
				clean(r, "common.git/config")
				r.filtered()
			}},
			{name: "a rebase that stopped", control: "git rebase --continue", plant: func(r *repo) {
				r.do("GIT_SEQUENCE_EDITOR=\"sed -i '1i break'\" git rebase -q -i main --autostash || true")
				r.file(".git/rebase-merge/git-rebase-todo", "exec "+r.touch()+"\n")
			}},
			{name: ".gitmodules url", control: "git submodule sync -q; git -C sub fetch -q", plant: func(r *repo) {
				r.file(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = "+r.url("http")+"\n")
			}},
		},
	)
}

// processFiles returns paths that lead each process to other files. copse starts below the root, and git in it.
func processFiles() []vector {
	if runtime.GOOS != "linux" {
		return nil
	}
	const here, control = "/proc/self/cwd/", "git -C .. status"
	clean := func(r *repo, file string) {
		driver, _ := r.filter()
		r.configIn(file, "filter."+driver+".clean", line(r))
		r.filtered()
	}
	return []vector{
		{name: "include.path in the working directory of the process", from: "docs", control: control, plant: func(r *repo) {
			r.config("include.path", here+"evil.config")
			clean(r, "root/evil.config")
		}},
		{name: "a configuration in the working directory of the process", from: "docs", control: control, plant: func(r *repo) {
			clean(r, "root/.git/config")
			r.do("mv .git/config evil.config && ln -s " + here + "evil.config .git/config && git config -f docs/evil.config core.bare false")
		}},
		{name: "a .git file that leads to the working directory of the process", from: "docs", control: control, plant: func(r *repo) {
			r.do("cp -r .git docs/inner && mv .git inner")
			r.file(".git", "gitdir: "+here+"inner\n")
			clean(r, "root/inner/config")
		}},
	}
}

func hook(name string) func(r *repo) {
	return func(r *repo) { r.program(".git/hooks/" + name) }
}

// embed turns a tracked directory into a bare repository whose worktree is itself, as
// someone can commit it.
func embed(r *repo, dir string) {
	r.t.Helper()
	inner := filepath.Join(r.root(), filepath.FromSlash(dir))
	r.do("git init -q --bare '" + inner + "'")
	if err := os.RemoveAll(filepath.Join(inner, "hooks")); err != nil {
		r.t.Fatal(err)
	}
	r.file(dir+"/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n")
	r.configIn("root/"+dir+"/config", "filter.x.clean", line(r))
	r.do("git --git-dir='" + inner + "' --work-tree='" + inner + "' -c filter.x.clean=cat add b.txt")
	r.file(dir+"/info/attributes", "* filter=x\n")
	r.file(dir+"/b.txt", "B\nmore\n")
}

// gitRemotes returns the ways in which a repository names addresses, and objects that git would
// fetch from there by itself.
func gitRemotes() []vector {
	allowed := set("protocol.ext.allow", "always")
	missing := func(r *repo) {
		r.config("extensions.partialClone", "origin")
		r.config("remote.origin.promisor", "true")
		r.config("remote.origin.partialCloneFilter", "blob:none")
		r.config("core.repositoryFormatVersion", "1")
		r.do(`for rev in HEAD:a.txt main:a.txt topic:a.txt; do
			o=$(git rev-parse $rev); rm -f .git/objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-); done`)
	}
	remote := func(address func(r *repo) string) func(r *repo) {
		return func(r *repo) { r.config("remote.origin.url", address(r)) }
	}
	address := func(scheme string) func(r *repo) string { return func(r *repo) string { return r.url(scheme) } }
	plant := func(steps ...func(r *repo)) func(r *repo) {
		return func(r *repo) {
			r.do("git config --unset-all remote.origin.url")
			for _, step := range steps {
				step(r)
			}
		}
	}
	lazy := "git -c core.pager=cat log -p -m --all; git diff main topic"
	return slices.Concat(
		crowd("remotes beside the usual one",
			vector{name: "url pushInsteadOf", control: "git push -q origin HEAD", plant: plant(remote(func(*repo) string { return "https://github.com/acme/app.git" }), func(r *repo) {
				r.config("url.http://"+r.listener.Addr().String()+"/.pushInsteadOf", "https://github.com/")
			})},
			vector{name: "branch remote", control: "git fetch", plant: func(r *repo) {
				r.config("protocol.ext.allow", "always")
				r.config("branch.feature/login.remote", r.ext())
				r.config("branch.feature/login.merge", "refs/heads/main")
			}},
			vector{name: "branch pushRemote", control: "git push -q", plant: func(r *repo) {
				r.config("protocol.ext.allow", "always")
				r.config("push.default", "current")
				r.config("branch.feature/login.pushRemote", r.ext())
				r.config("remote.pushDefault", r.ext())
			}},
			vector{name: ".git/remotes", control: "git fetch elsewhere", plant: func(r *repo) {
				r.config("protocol.ext.allow", "always")
				r.file(".git/remotes/elsewhere", "URL: "+r.ext()+"\nPull: refs/heads/main\n")
			}},
			vector{name: ".git/branches", control: "git fetch there", plant: func(r *repo) {
				r.config("protocol.ext.allow", "always")
				r.file(".git/branches/there", r.ext()+"\n")
			}},
			vector{name: "http files", dormant: "they are read, not run", plant: func(r *repo) {
				for _, key := range []string{"http.cookieFile", "http.sslCert", "http.sslKey", "http.sslCAInfo", "http.sslCAPath", "http.proxySSLCert", "http.proxySSLKey", "http.proxySSLCAInfo"} {
					r.config(key, r.path("home/.gitconfig"))
				}
				r.config("http.saveCookies", "true")
			}},
			vector{name: "bundle.uri", dormant: "git uses it when it clones", plant: func(r *repo) {
				r.config("bundle.mode", "all")
				r.config("bundle.version", "1")
				r.config("bundle.x.uri", r.url("http"))
				r.config("fetch.bundleURI", r.url("http"))
			}},
		),
		[]vector{
			{name: "url insteadOf ext", control: "git ls-remote origin", plant: plant(allowed, remote(func(*repo) string { return "https://github.com/acme/app.git" }), func(r *repo) {
				r.config("url."+r.ext()+".insteadOf", "https://github.com/acme/app.git")
			})},
			{name: "remote url http", control: "git ls-remote", plant: plant(remote(address("http")))},
			{name: "remote url https", control: "git ls-remote", plant: plant(remote(address("https")))},
			{name: "remote url git", control: "git ls-remote", plant: plant(remote(address("git")))},
			{name: "remote url ssh", control: "git ls-remote", needs: "ssh", plant: plant(remote(address("ssh")))},
			{name: "remote url ext", control: "git ls-remote", plant: plant(remote((*repo).ext), allowed)},
			{name: "remote url ext, protocol.allow", control: "git ls-remote", plant: plant(remote((*repo).ext), set("protocol.allow", "always"))},
			{name: "remote pushurl ext", control: "git push -q origin HEAD", plant: plant(remote(address("https")), allowed, func(r *repo) {
				r.config("remote.origin.pushurl", r.ext())
			})},
			{name: "remote vcs", control: "git ls-remote", plant: plant(allowed, func(r *repo) {
				r.config("remote.origin.vcs", "ext")
				r.config("remote.origin.url", "sh -c "+r.ext()[len("ext::sh -c "):])
			})},
			{name: "url insteadOf http", control: "git ls-remote", plant: plant(remote(func(*repo) string { return "https://github.com/acme/app.git" }), func(r *repo) {
				r.config("url.http://"+r.listener.Addr().String()+"/.insteadOf", "https://github.com/")
			})},
			{name: "http.proxy", control: "git ls-remote", plant: plant(remote(func(*repo) string { return "http://github.invalid/acme/app.git" }), func(r *repo) {
				r.config("http.proxy", "http://"+r.listener.Addr().String())
			})},
			{name: "http.<url>.proxy", control: "git ls-remote", plant: plant(remote(func(*repo) string { return "http://github.invalid/acme/app.git" }), func(r *repo) {
				r.config("http.http://github.invalid.proxy", "http://"+r.listener.Addr().String())
			})},
			{name: "remote proxy", control: "git ls-remote", plant: plant(remote(func(*repo) string { return "http://github.invalid/acme/app.git" }), func(r *repo) {
				r.config("remote.origin.proxy", "http://"+r.listener.Addr().String())
			})},
			{name: "http.curloptResolve", control: "git ls-remote", plant: plant(func(r *repo) {
				port := r.listener.Addr().String()[len("127.0.0.1:"):]
				r.config("remote.origin.url", "http://github.invalid:"+port+"/acme/app.git")
				r.config("http.curloptResolve", "github.invalid:"+port+":127.0.0.1")
			})},
			{name: "missing objects, ext", control: lazy, plant: plant(remote((*repo).ext), allowed, missing)},
			{name: "missing objects, http", control: lazy, plant: plant(remote(address("http")), missing)},
			{name: "missing objects, sshCommand", control: lazy, plant: plant(remote(func(*repo) string { return "ssh://localhost/x" }), missing, func(r *repo) {
				r.config("core.sshCommand", r.touch())
			})},
			{name: "missing objects, uploadpack", control: lazy, plant: plant(remote(func(*repo) string { return "." }), missing, func(r *repo) {
				r.config("remote.origin.uploadpack", r.touch())
			})},
			{name: "missing objects, credential helper", dormant: "it asks after the connection, which is a vector of its own", plant: plant(remote(address("http")), missing, func(r *repo) {
				r.config("credential.helper", r.bang())
			})},
			{name: "fetch of submodules", control: "git fetch", plant: plant(remote(address("http")), func(r *repo) {
				r.config("fetch.recurseSubmodules", "true")
				r.config("submodule.recurse", "true")
				r.configIn("root/.git/modules/sub/config", "remote.origin.url", r.url("http"))
				r.config("submodule.sub.url", r.url("http"))
			})},
		},
	)
}
