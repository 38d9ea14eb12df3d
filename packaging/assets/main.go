// Command assets writes the files that packages contain in addition to the programs: man pages, and
// completions for bash, zsh, fish, and PowerShell.
//
//	go run ./packaging/assets DIRECTORY
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/cli/copse"
	"github.com/copse-dev/copse/internal/cli/tic"
	"github.com/copse-dev/copse/internal/cli/twigmcp"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: assets DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1)
	}
}

func write(directory string) error {
	env := app.EmptyEnv()
	var errs []error
	for _, cmd := range []*cobra.Command{copse.Command(env), tic.Command(env), twigmcp.Command(env)} {
		cmd.DisableAutoGenTag = true
		errs = append(errs, pages(filepath.Join(directory, "man"), cmd), completions(filepath.Join(directory, "completions"), cmd))
	}
	return errors.Join(errs...)
}

// pages writes the man page of a command and of each below it. The date is that of the
// release, from SOURCE_DATE_EPOCH if that is set, so that the same source gives the same
// pages.
func pages(directory string, cmd *cobra.Command) error {
	if cmd.Hidden || cmd.Name() == "help" {
		return nil
	}
	cmd.DisableAutoGenTag = true
	hideHelp(cmd)
	var page bytes.Buffer
	header := &doc.GenManHeader{Section: "1", Source: "copse", Manual: "copse"}
	if err := doc.GenMan(cmd, header, &page); err != nil {
		return fmt.Errorf("page of %s: %w", cmd.CommandPath(), err)
	}
	errs := []error{zipped(filepath.Join(directory, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1.gz"), []byte(asHelp(cmd, page.String())))}
	for _, sub := range cmd.Commands() {
		errs = append(errs, pages(directory, sub))
	}
	return errors.Join(errs...)
}

// hideHelp leaves the flag --help out of a page.
func hideHelp(cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	if f := cmd.Flags().Lookup("help"); f != nil {
		f.Hidden = true
	}
}

// asHelp changes a page of cobra to what the help of the command shows: how to call it, and its
// flags with the names of their values and the defaults that mean something.
func asHelp(cmd *cobra.Command, page string) string {
	line := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		line = cmd.CommandPath() + " [command]"
	}
	page = section("SYNOPSIS", page, ".B "+roff(line)+"\n")
	page = section("OPTIONS", page, options(cmd.NonInheritedFlags()))
	page = section("OPTIONS INHERITED FROM PARENT COMMANDS", page, options(cmd.InheritedFlags()))
	page = strings.Replace(page, ".SH OPTIONS INHERITED FROM PARENT COMMANDS\n", ".SH GLOBAL OPTIONS\n", 1)
	return strings.Replace(page, ".SH EXAMPLE\n", ".SH EXAMPLES\n", 1)
}

// section replaces the text below a heading, if the page has the heading.
func section(heading, page, text string) string {
	before, after, ok := strings.Cut(page, ".SH "+heading+"\n")
	if !ok {
		return page
	}
	rest := ""
	if i := strings.Index(after, "\n.SH "); i >= 0 {
		rest = after[i:]
	}
	return before + ".SH " + heading + "\n" + text + rest
}

// usage matches a line of a command's help: a flag with the name of its value, and the rest.
var usage = regexp.MustCompile(`^ *((?:-\w, )?--[\w-]+)(?: (\S+))? {3,}(.*)$`)

// options returns a tagged paragraph for each flag.
func options(flags *pflag.FlagSet) string {
	var b strings.Builder
	for line := range strings.Lines(flags.FlagUsages()) {
		parts := usage.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if parts == nil {
			panic(fmt.Sprintf("the help has a flag in another form: %q", line))
		}
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fP", roff(parts[1]))
		if parts[2] != "" {
			fmt.Fprintf(&b, " \\fI%s\\fP", roff(parts[2]))
		}
		fmt.Fprintf(&b, "\n%s\n", roff(parts[3]))
	}
	return b.String()
}

// roff escapes a text that begins a line.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

func completions(directory string, cmd *cobra.Command) error {
	var errs []error
	for name, write := range map[string]func(io.Writer) error{
		cmd.Name() + ".bash": func(w io.Writer) error { return cmd.GenBashCompletionV2(w, true) },
		"_" + cmd.Name():     cmd.GenZshCompletion,
		cmd.Name() + ".fish": func(w io.Writer) error { return cmd.GenFishCompletion(w, true) },
		cmd.Name() + ".ps1":  cmd.GenPowerShellCompletionWithDesc,
	} {
		var script bytes.Buffer
		errs = append(errs, write(&script), put(filepath.Join(directory, name), script.Bytes()))
	}
	return errors.Join(errs...)
}

// zipped writes a compressed man page. The same text gives the same bytes.
func zipped(path string, text []byte) error {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return put(path, b.Bytes())
}

func put(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
