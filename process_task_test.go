package copse_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/test/built"
	"github.com/copse-dev/copse/internal/test/need"
	"github.com/copse-dev/copse/internal/xec"
)

// stubborn is a justfile with a task whose processes do their best to stay.
const stubborn = `serve:
  @setsid sh -c 'echo $$ >away; exec sleep 300' &
  @(env -i PATH="$PATH" setsid sh -c 'setsid sh -c "echo \$\$ >daemon; exec sleep 300" >/dev/null 2>&1 & exit' &)
  @sh -c 'trap "" TERM HUP; echo $$ >ignores; while :; do sleep 1; done' &
  @while [ ! -s away ] || [ ! -s ignores ] || [ ! -s daemon ]; do sleep 0.01; done; echo begun; sleep 300
quick:
  @echo quick
`

// stay are the files of its processes.
var stay = []string{"away", "ignores", "daemon"}

// obedient is the same with a process that ends when it is asked to, so the test need not wait.
var obedient = strings.Replace(stubborn, `trap "" TERM HUP; `, "", 1)

// TestTasksEnd runs a task and cancels it, or loses its client or its server: nothing of it is
// left. Other calls continue.
func TestTasksEnd(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"just", "setsid"} {
		if _, err := xec.Env(os.Environ()).LookPath(program); err != nil {
			need.Skip(t, program+" is not installed")
		}
	}
	bin := built.Programs(t)
	for name, end := range map[string]func(p *process){
		"cancelled": func(p *process) {
			p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		},
		"end of input": func(p *process) { p.in.Close() },
		"stopped by another process": func(p *process) {
			p.stopTask()
			p.await("stopped by copse task stop")
			p.in.Close()
		},
		"killed": func(p *process) {
			if err := p.cmd.Process.Kill(); err != nil {
				p.t.Error(err)
			}
		},
		"terminated": func(p *process) {
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				p.t.Error(err)
			}
		},
		"hung up": func(p *process) {
			if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
				p.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := repository(t)
			text := stubborn
			if name == "cancelled" || name == "stopped by another process" {
				text = obedient
			}
			if err := os.WriteFile(filepath.Join(dir, "justfile"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p := start(t, dir, env, filepath.Join(bin, "copse"), "mcp", "serve")
			p.initialize()
			p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_just_task","arguments":{"task_name":"serve"},"_meta":{"progressToken":"p"}}}`)
			p.await(`"message":"running serve"`)
			p.await(`"message":"begun"`)
			// The task is in nobody's way, but runs once only.
			p.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run_just_task","arguments":{"task_name":"quick"}}}`)
			p.await(`quick: exit code 0`)
			p.send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"run_just_task","arguments":{"task_name":"serve"}}}`)
			p.await(`serve is already running, as task `)
			begun := time.Now()
			end(p)
			if name == "cancelled" {
				p.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"list_directory","arguments":{"path":"."}}}`)
				p.await(`"id":4`)
				waitUntilGone(t, dir, stay...)
				p.in.Close()
			}
			if err := p.cmd.Wait(); err != nil && name != "killed" {
				t.Errorf("the server ended with %v", err)
			}
			if took := time.Since(begun); took > 4*time.Second && name != "cancelled" {
				t.Errorf("the server took %s to end", took)
			}
			waitUntilGone(t, dir, stay...)
		})
	}
}

// TestTaskRunEnds kills, ends or hangs up "copse task run": nothing of its task is left.
func TestTaskRunEnds(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"just", "setsid"} {
		if _, err := xec.Env(os.Environ()).LookPath(program); err != nil {
			need.Skip(t, program+" is not installed")
		}
	}
	bin := built.Programs(t)
	for name, s := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "interrupted": syscall.SIGINT, "hung up": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := repository(t)
			text := obedient
			if s == syscall.SIGKILL {
				text = stubborn
			}
			if err := os.WriteFile(filepath.Join(dir, "justfile"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			p := start(t, dir, env, filepath.Join(bin, "copse"), "task", "run", "serve")
			p.await(`begun`)
			if err := p.cmd.Process.Signal(s); err != nil {
				t.Error(err)
			}
			if err := p.cmd.Wait(); err == nil {
				t.Error("it ended well")
			}
			waitUntilGone(t, dir, stay...)
		})
	}
}

// A recipe that is interrupted or stopped can clean up. A second Ctrl+C ends it at once.
func TestTaskCleansUp(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"just", "bash"} {
		if _, err := xec.Env(os.Environ()).LookPath(program); err != nil {
			need.Skip(t, program+" is not installed")
		}
	}
	bin := built.Programs(t)
	for name, s := range map[string]struct {
		seconds, want string
		end           func(p *process)
	}{
		"Ctrl+C": {"0.6", "cleaned", (*process).interrupt},
		"stop":   {"0.6", "cleaned", (*process).stopTask},
		"Ctrl+C twice": {"30", "", func(p *process) {
			p.interrupt()
			p.await("cleaning")
			if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil { // nohup ignores SIGINT here
				p.t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := repository(t)
			recipe := "clean:\n  #!/usr/bin/env bash\n  trap 'echo cleaning; sleep " + s.seconds + "; echo $? >cleaned' EXIT\n  echo $$ >pid; mkfifo wait; exec 3<>wait; echo begun; read -u 3\n"
			if err := os.WriteFile(filepath.Join(dir, "justfile"), []byte(recipe), 0o600); err != nil {
				t.Fatal(err)
			}
			p := start(t, dir, env, filepath.Join(bin, "copse"), "task", "run", "clean")
			p.await(`begun`)
			begun := time.Now()
			s.end(p)
			if err := p.cmd.Wait(); err == nil {
				t.Error("it ended well")
			}
			waitUntilGone(t, dir, "pid")
			if took := time.Since(begun); took > 4*time.Second {
				t.Errorf("it took %s", took)
			}
			if _, err := os.Stat(filepath.Join(dir, "cleaned")); (err == nil) != (s.want != "") {
				t.Errorf("cleaned up: %v", err)
			}
		})
	}
}

// interrupt does what Ctrl+C does.
func (p *process) interrupt() {
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		p.t.Error(err)
	}
}

// TestTaskHandles starts a task in one server, and asks for it and stops it in another.
// A client with the extension Tasks gets the same task as one of the protocol.
func TestTaskHandles(t *testing.T) {
	t.Parallel()
	if _, err := xec.Env(os.Environ()).LookPath("just"); err != nil {
		need.Skip(t, "just is not installed")
	}
	bin := built.Programs(t)
	dir, env := repository(t)
	const justfile = "wait:\n  @echo begun; sleep 300\nquick:\n  @echo quick\nfail:\n  @seq 30; echo 'error: it broke'; exit 3\n"
	if err := os.WriteFile(filepath.Join(dir, "justfile"), []byte(justfile), 0o600); err != nil {
		t.Fatal(err)
	}
	env = append(env, "XDG_STATE_HOME="+t.TempDir())
	plain := start(t, dir, env, filepath.Join(bin, "copse"), "mcp", "serve")
	plain.initialize()
	tasked := start(t, dir, env, filepath.Join(bin, "copse"), "mcp", "serve")
	ask := func(method, params, want string) string {
		t.Helper()
		tasked.send(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`)
		return tasked.await(want)
	}
	call := func(tool, args, want string) {
		t.Helper()
		plain.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`)
		plain.await(want)
	}

	// What is quick is answered at once, what takes longer is a task for both.
	ask("tools/call", `"name":"run_just_task","arguments":{"task_name":"quick"}`, `"quick\n"`)
	id := taskID(t, ask("tools/call", `"name":"run_just_task","arguments":{"task_name":"wait"}`, `"resultType":"task"`))
	ask("tasks/get", `"taskId":"`+id+`"`, `"status":"working"`)
	call("get_task", `{"id":"`+id+`"}`, `"state":"running"`)
	call("stop_task", `{"id":"`+id+`"}`, `"task":"wait"`)
	ask("tasks/get", `"taskId":"`+id+`"`, `"status":"cancelled"`)
	ask("tasks/cancel", `"taskId":"`+id+`"`, `"resultType":"complete"`)
	ask("tasks/get", `"taskId":"aaaaaaaaaa"`, `-32602`)

	// One that fails is completed, with the lines that explain it first.
	id = taskID(t, ask("tools/call", `"name":"run_just_task","arguments":{"task_name":"fail","background":true}`, `"resultType":"task"`))
	call("get_task", `{"id":"`+id+`","wait_seconds":30}`, `explain it:\n\n    error: it broke`)
	ask("tasks/get", `"taskId":"`+id+`"`, `"status":"completed"`)

	// Of a task whose server was killed nobody waits for the end.
	id = taskID(t, ask("tools/call", `"name":"run_just_task","arguments":{"task_name":"wait","background":true}`, `"resultType":"task"`))
	if err := tasked.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = tasked.cmd.Wait() // it was killed
	call("get_task", `{"id":"`+id+`","wait_seconds":30}`, `lost, the process that ran it was killed`)
	plain.in.Close()
	if err := plain.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// taskID returns the ID of a task in a message.
func taskID(t *testing.T, message string) string {
	t.Helper()
	_, rest, _ := strings.Cut(message, `"taskId":"`)
	id, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("no task in %s", message)
	}
	return id
}

// stopTask ends the task that runs with "copse task stop".
func (p *process) stopTask() {
	p.t.Helper()
	for _, args := range [][]string{{"task", "ps"}, {"task", "stop"}} {
		if args[1] == "stop" {
			args = append(args, p.taskID)
		}
		cmd := exec.CommandContext(p.t.Context(), p.cmd.Path, args...)
		cmd.Dir, cmd.Env = p.cmd.Dir, p.cmd.Env
		out, err := cmd.CombinedOutput()
		if err != nil {
			p.t.Fatalf("%v: %v\n%s", args, err, out)
		}
		p.taskID, _, _ = strings.Cut(string(out), "\t")
	}
}

// waitUntilGone waits for the processes whose numbers are in the files of dir.
func waitUntilGone(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(3 * time.Second); alive(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Errorf("%s is still there", name)
				break
			}
		}
	}
}

// alive reports whether a process runs; one that only waits to be noticed does not.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil || p.Signal(syscall.Signal(0)) != nil {
		return false
	}
	if runtime.GOOS != "linux" {
		return true
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
