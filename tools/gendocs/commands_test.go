package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/cli"
)

var (
	fenced     = regexp.MustCompile("(?s)```.*?```")
	inline     = regexp.MustCompile("`([^`]+)`")
	ownCommand = regexp.MustCompile(`^(?:bin/)?wirerate ([^|&;>#]*)`)
	inQuotes   = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	plainWord  = regexp.MustCompile(`^[a-z]+$`)
	makeTarget = regexp.MustCompile(`^make ([a-z]+)$`)
	linkedFile = regexp.MustCompile(`\]\(([^)#:]+)\)|\b((?:docs|catalog)/[\w/.-]*\w)`)
)

// TestPagesNameWhatExists finds on every page the commands of wirerate, the
// make targets and the files that it names, and wants all of them to exist:
// verbs and flags as the program declares them.
func TestPagesNameWhatExists(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for _, page := range pagesOf(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range snippets(string(text)) {
			if m := ownCommand.FindStringSubmatch(inQuotes.ReplaceAllString(words, "QUOTED")); m != nil {
				commands++
				if err := declared(cli.Tree(), m[1]); err != nil {
					t.Errorf("%s: %s: %v", page, words, err)
				}
			}
			if m := makeTarget.FindStringSubmatch(words); m != nil && !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s: %s: the Makefile has no such target", page, words)
			}
		}
		for _, m := range linkedFile.FindAllStringSubmatch(string(text), -1) {
			beside, below := filepath.Join(filepath.Dir(page), m[1]), filepath.Join("../..", m[2])
			if name := map[bool]string{true: beside, false: below}[m[1] != ""]; !exists(name) {
				t.Errorf("%s: there is no file %s", page, name)
			}
		}
	}
	if commands < 50 {
		t.Errorf("only %d commands were found on the pages", commands)
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// pagesOf lists the pages that people read.
func pagesOf(t *testing.T) []string {
	t.Helper()
	var pages []string
	for _, pattern := range []string{"../../README.md", "../../docs/*.md", "../../docs/howto/*.md", "../../docs/cli/*.md", "../../catalog/README.md", "../../contrib/*/*/README.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: no pages (%v)", pattern, err)
		}
		pages = append(pages, found...)
	}
	return pages
}

// snippets are a page's pieces of code: lines of its blocks, continued ones as
// one, and what stands between backquotes.
func snippets(text string) []string {
	var out []string
	text = strings.ReplaceAll(text, "\\\n", " ")
	for _, block := range fenced.FindAllString(text, -1) {
		for line := range strings.Lines(block) {
			out = append(out, strings.TrimSpace(line))
		}
	}
	text = fenced.ReplaceAllString(text, "")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "    ") {
			command, _, _ := strings.Cut(line, "  #")
			out = append(out, strings.TrimSpace(command))
		}
	}
	for _, m := range inline.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.Join(strings.Fields(m[1]), " "))
	}
	return out
}

// declared checks the verb and the flags of a command line behind wirerate.
func declared(root *cobra.Command, line string) error {
	words := strings.Fields(line)
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if len(rest) > 0 && cmd.HasSubCommands() && plainWord.MatchString(rest[0]) {
		return fmt.Errorf("%s has no verb %s", cmd.CommandPath(), rest[0])
	}
	cmd.InitDefaultHelpFlag()
	for _, word := range rest {
		if word == "--" {
			return nil // what follows is another program's
		}
		name, _, _ := strings.Cut(word, "=")
		long, isLong := strings.CutPrefix(name, "--")
		short, isShort := strings.CutPrefix(name, "-")
		switch {
		case isLong && cmd.Flag(long) == nil:
			return fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), long)
		case !isLong && isShort && short != "" && cmd.Flags().ShorthandLookup(short[:1]) == nil:
			return fmt.Errorf("%s has no flag -%s", cmd.CommandPath(), short)
		}
	}
	return nil
}
