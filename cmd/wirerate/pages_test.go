package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/cli"
)

var (
	codeBlock  = regexp.MustCompile("(?m)^```(\\w*)\n((?s:.*?))^```|(?:^(?: {4,}.*)?\n)+")
	lineBreak  = regexp.MustCompile(`\\\n *`)
	inlineCode = regexp.MustCompile("`([^`]+)`")
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
	for _, page := range readPages(t, "docs/cli/*.md") {
		blocks, lines := codeOf(page.text)
		for _, b := range blocks {
			lines = append(lines, b.lines...)
		}
		for _, words := range lines {
			if m := ownCommand.FindStringSubmatch(inQuotes.ReplaceAllString(words, "QUOTED")); m != nil {
				commands++
				if err := declared(cli.Tree(), m[1]); err != nil {
					t.Errorf("%s: %s: %v", page.name, words, err)
				}
			}
			if m := makeTarget.FindStringSubmatch(words); m != nil && !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s: %s: the Makefile has no such target", page.name, words)
			}
		}
		for _, m := range linkedFile.FindAllStringSubmatch(page.text, -1) {
			beside, below := filepath.Join("../..", filepath.Dir(page.name), m[1]), filepath.Join("../..", m[2])
			if name := map[bool]string{true: beside, false: below}[m[1] != ""]; !exists(name) {
				t.Errorf("%s: there is no file %s", page.name, name)
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

// document is a page that people read.
type document struct{ name, text string }

// readPages reads the pages, and more that fit patterns.
func readPages(t *testing.T, more ...string) (all []document) {
	t.Helper()
	for _, pattern := range slices.Concat([]string{"*.md", "docs/*.md", "docs/howto/*.md", "catalog/*.md",
		"contrib/*/*/*.md", "contrib/*/*/*/*.md"}, more) {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no pages (%v)", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel("../..", file)
			all = append(all, document{name, string(text)})
		}
	}
	return all
}

// block is a block of code, with lines that a backslash continues made one.
type block struct {
	language string
	lines    []string
}

// codeOf takes the code out of a page: its blocks, and what stands between backquotes.
func codeOf(text string) (blocks []block, inline []string) {
	for _, m := range codeBlock.FindAllStringSubmatch(text, -1) {
		b := block{language: m[1]}
		if m[2] != "" {
			m[0] = m[2]
		}
		for line := range strings.Lines(unbroken(m[0])) {
			if line = strings.TrimSpace(line); line != "" {
				b.lines = append(b.lines, line)
			}
		}
		if len(b.lines) > 0 {
			blocks = append(blocks, b)
		}
	}
	for _, m := range inlineCode.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, "\n"), -1) {
		inline = append(inline, strings.Join(strings.Fields(m[1]), " "))
	}
	return blocks, inline
}

// unbroken makes one line of lines that a backslash continues.
func unbroken(text string) string { return lineBreak.ReplaceAllString(text, "") }

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
