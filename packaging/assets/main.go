// Command assets writes what packages carry beside the programs: man pages, and completions
// for bash, zsh, fish and PowerShell.
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
	errs := []error{zipped(filepath.Join(directory, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1.gz"), defaults.ReplaceAll(page.Bytes(), []byte("$1$2")))}
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

// defaults are empty default values behind a flag, such as [=false] and ="".
var defaults = regexp.MustCompile(`(\\-\\-[a-z-]+|--[a-z-]+)(\\fP)?(\[=[a-z0-9]*\]|=""|=\[\])`)

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

// zipped writes a file as packages keep man pages; the same text gives the same bytes.
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
