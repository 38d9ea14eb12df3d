package up

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/supervisor/control"
	"github.com/copse-dev/copse/internal/wiring/servers"
)

// terms returns what the flags decide for every repository.
func (o options) terms() control.Terms {
	listen := make([]string, len(o.listen))
	for i, host := range o.listen {
		listen[i] = net.ParseIP(host).String()
	}
	return control.Terms{
		Guarded: !o.noToken, ReadOnly: o.choice.ReadOnly, Omitted: set(o.choice.Disabled()),
		Listen: set(listen), Origins: set(o.origins), FirstPort: o.port,
	}
}

// set returns the values in order, each once.
func set(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// applied returns an error if the running process does not do what a given flag says. Otherwise,
// somebody who joins with --read-only would get tools that write, and with --listen nothing.
func (o options) applied(running control.Status) error {
	if o.given == nil {
		return nil
	}
	want, have := o.terms(), running.Terms
	var differences []string
	differ := func(flag string, same bool, have string) {
		if !same && o.given(flag) {
			differences = append(differences, have)
		}
	}
	differ("read-only", want.ReadOnly == have.ReadOnly, it(have.ReadOnly, "--read-only", ""))
	differ("no-token", want.Guarded == have.Guarded, it(!have.Guarded, "--no-token", ""))
	differ("listen", slices.Equal(want.Listen, have.Listen), it(len(have.Listen) > 0, "--listen", strings.Join(have.Listen, ",")))
	differ("allow-origin", slices.Equal(want.Origins, have.Origins), it(len(have.Origins) > 0, "--allow-origin", strings.Join(have.Origins, ",")))
	differ("port", want.FirstPort == have.FirstPort, it(true, "--port", strconv.Itoa(have.FirstPort)))
	omits := "it omits nothing"
	if len(have.Omitted) > 0 {
		omits = "it omits " + strings.Join(have.Omitted, ", ")
	}
	for _, flag := range []string{"toolsets", "disable"} {
		differ(flag, slices.Equal(want.Omitted, have.Omitted), omits+" (--"+flag+")")
	}
	if len(differences) == 0 {
		return nil
	}
	flags := "the flag"
	if len(differences) > 1 {
		flags = "the flags"
	}
	return fmt.Errorf("copse up is already running (PID %d) with other options, so this repository does not join it: %s. "+
		"Leave %s out to join it, or stop it with `copse down` and run this command again", running.PID, strings.Join(differences, ", "), flags)
}

// it says with which flag a process runs, or without which.
func it(set bool, flag, value string) string {
	if !set {
		return "it runs without " + flag
	}
	return strings.TrimSpace("it runs with " + flag + " " + value)
}

// running returns the status of the running process for a command that adds a worktree to it, and
// warns that others can then read the network traffic of the worktree.
func running(ctx context.Context, env app.Env, client *control.Client) (control.Status, error) {
	status, err := client.Status(ctx)
	if err == nil {
		warnOfClearText(env, status.Terms)
	}
	return status, err
}

// join asks the running process to serve this repository, too.
func join(ctx context.Context, env app.Env, o options, files servers.Files, dir string) error {
	client := control.NewClient(files.Runtime)
	status, err := client.Status(ctx)
	if err != nil {
		return err
	}
	if err := o.applied(status); err != nil {
		return err
	}
	warnOfClearText(env, status.Terms)
	if err := client.Join(ctx, dir); err != nil {
		return err
	}
	if o.newPort {
		if err := client.Move(ctx, dir); err != nil {
			return err
		}
	}
	if status, err = client.Status(ctx); err != nil {
		return err
	}
	env.Notef("copse up is already running (PID %d); its options apply", status.PID)
	return showStatus(ctx, env, status, files, dir)
}

// warnOfClearText warns that others can read the network traffic.
func warnOfClearText(env app.Env, terms control.Terms) {
	for _, host := range terms.Exposed() {
		env.Note("WARNING: " + clearText(host))
		fmt.Fprint(env.Stderr, "Anyone who can read the network traffic can use these servers as you. Use a tunnel instead of --listen:\n"+
			"  ssh -N -L 3000:localhost:3000 THIS-MACHINE\n")
	}
}

// clearText says what an address that other machines can reach means.
func clearText(host string) string {
	return "--listen " + host + " sends the tokens, your files, and all answers over the network in clear text."
}
