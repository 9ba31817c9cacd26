// Gendocs writes the parts of docs/ that the program itself knows: its
// commands, lint's codes, diagnose's rules, the workloads and the catalog's settings. With
// -man it writes manual pages instead.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/wirerate/wirerate/internal/cli"
)

//go:generate go run . -o ../../docs

func main() {
	out := flag.String("o", "docs", "folder to write to")
	man := flag.Bool("man", false, "write manual pages of section 1")
	flag.Parse()
	if err := run(*out, *man); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}

// page is a generated file, its path relative to docs/.
type page struct {
	path string
	text []byte
}

// ownFolders are the folders of docs/ in which every file is generated.
var ownFolders = []string{"cli", "schema", "settings"}

func run(dir string, man bool) error {
	if man {
		pages, err := manPages(cli.Tree())
		if err != nil {
			return err
		}
		return write(dir, pages)
	}
	pages, err := docPages(filepath.Join(dir, ".."))
	if err != nil {
		return err
	}
	for _, f := range ownFolders { // pages of what is no more
		if err := os.RemoveAll(filepath.Join(dir, f)); err != nil {
			return err
		}
	}
	return write(dir, pages)
}

func write(dir string, pages []page) error {
	for _, p := range pages {
		path := filepath.Join(dir, p.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, p.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// docPages returns every generated page of docs/; root is the folder of go.mod.
func docPages(root string) ([]page, error) {
	pages, err := commandPages(cli.Tree())
	if err != nil {
		return nil, err
	}
	settings, err := settingPages()
	if err != nil {
		return nil, err
	}
	schemas, err := schemaPages(root)
	if err != nil {
		return nil, err
	}
	pages = slices.Concat(pages, settings, schemas)
	return append(pages, lintPage(), rulesPage(), workloadsPage(), outputsPage()), nil
}

// commandPages returns one page for each command.
func commandPages(root *cobra.Command) ([]page, error) {
	var pages []page
	for _, c := range commands(root) {
		var b bytes.Buffer
		c.DisableAutoGenTag = true // it has the date
		if err := doc.GenMarkdown(c, &b); err != nil {
			return nil, err
		}
		pages = append(pages, page{"cli/" + pageName(c) + ".md", append(bytes.TrimSpace(b.Bytes()), '\n')})
	}
	return pages, nil
}

// manPages returns one manual page for each command.
func manPages(root *cobra.Command) ([]page, error) {
	var pages []page
	for _, c := range commands(root) {
		var b bytes.Buffer
		c.DisableAutoGenTag = true
		header := &doc.GenManHeader{Section: "1", Source: "wirerate " + cli.Version, Manual: "wirerate"}
		if err := doc.GenMan(c, header, &b); err != nil {
			return nil, err
		}
		pages = append(pages, page{manName(c) + ".1", b.Bytes()})
	}
	return pages, nil
}

// commands returns a command and all below it that its help shows.
func commands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() && !sub.Hidden {
			all = append(all, commands(sub)...)
		}
	}
	return all
}
