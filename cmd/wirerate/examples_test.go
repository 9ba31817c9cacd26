package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/cli"
	sh "github.com/wirerate/wirerate/internal/shell"
)

// TestExamples runs every command that a verb's help or a page shows, in a world
// that has the files and hosts that it names. What exceptions says is run in
// another form, or not at all.
func TestExamples(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 || !labPossible() {
		t.Skip("hosts and folders can be made up by root only")
	}
	used, ran := make([]bool, len(exceptions)), map[string]bool{}
	for _, p := range append(helpPages(cli.Tree()), documents(t)...) {
		commands := make([]string, len(p.examples))
		for i, example := range p.examples {
			commands[i] = instead(example, used)
			if experiments.MatchString(commands[i]) && ran[commands[i]] {
				commands[i] = "" // on an earlier page
			}
			ran[commands[i]] = true
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.run(t, commands)
		})
	}
	for i, e := range exceptions {
		if !used[i] {
			t.Errorf("no example is like %s (%s)", e.like, e.because)
		}
	}
}

// page is a page or a verb's help with the commands that it shows.
type page struct {
	name     string
	examples []string
}

// helpPages are the examples of a verb and of those below it. Each has a page
// of its own where they have nothing to do with each other and take long.
func helpPages(cmd *cobra.Command) []page {
	p := page{name: cmd.CommandPath()}
	for line := range strings.Lines(unbroken(cmd.Example)) {
		if line = strings.TrimSpace(line); line != "" {
			p.examples = append(p.examples, line)
		}
	}
	for line := range strings.Lines(unbroken(cmd.Long)) {
		if strings.HasPrefix(line, "  wirerate ") {
			p.examples = append(p.examples, strings.TrimSpace(line))
		}
	}
	pages := []page{p}
	if slices.Contains([]string{"trial", "tune", "measure", "watch", "inspect"}, cmd.Name()) {
		pages = nil
		for i, example := range p.examples {
			pages = append(pages, page{fmt.Sprintf("%s %d", p.name, i+1), []string{example}})
		}
	}
	for _, below := range cmd.Commands() {
		pages = append(pages, helpPages(below)...)
	}
	return slices.DeleteFunc(pages, func(p page) bool { return len(p.examples) == 0 })
}

var (
	firstProgram = regexp.MustCompile(`^([A-Z_]+=\S+ )*[a-z][a-z0-9-]* [^=:\s]`)
	inTable      = regexp.MustCompile("(?m)[|,] `(wirerate [^`]+)`")
)

// documents are the pages with the commands of their blocks and tables.
func documents(t *testing.T) []page {
	t.Helper()
	var pages []page
	for _, d := range readPages(t) {
		p := page{d.name, shown(d.text)}
		if d.name == "README.md" { // its questions are answered by commands in a table
			for _, m := range inTable.FindAllStringSubmatch(d.text, -1) {
				p.examples = append(p.examples, m[1])
			}
		}
		if len(p.examples) > 0 {
			pages = append(pages, p)
		}
	}
	return pages
}

// shown are the commands of a page. A block that is not marked as one of another
// language shows commands if its first line is a program with arguments.
func shown(text string) (commands []string) {
	blocks, _ := codeOf(text)
	for _, b := range blocks {
		if first := b.lines[0]; (b.language == "" || b.language == "sh") &&
			(firstProgram.MatchString(first) || strings.HasPrefix(first, "wirerate")) {
			commands = append(commands, b.lines...)
		}
	}
	return commands
}

// instead is the command to run for an example: as the exceptions that it is like
// say, one after the other; nothing if one gives no other.
func instead(example string, used []bool) string {
	command := example
	for i, e := range exceptions {
		if like := regexp.MustCompile(e.like); like.MatchString(command) {
			used[i] = true
			if e.run == "" {
				return ""
			}
			command = like.ReplaceAllString(command, e.run)
		}
	}
	return command
}

var (
	namedHost   = regexp.MustCompile(`(?:ssh://(?:\w+@)?|ns:)(\w+)`)
	experiments = regexp.MustCompile(`^wirerate (tune|trial|measure) `)
	// negative are the verbs whose answer may be a negative one.
	negative = regexp.MustCompile(`wirerate (lint|tune|trial|attribute|verify|weblog|fleet|canary|watch|plan .*--compare|lab check)\b`)
)

// run runs the commands, one after the other, in a world of their own, and wants
// them to end as the verb's help says.
func (p page) run(t *testing.T, commands []string) {
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/examples/files")); err != nil {
		t.Fatal(err)
	}
	writeLogs(t, folder, p.examples)
	world, err := os.ReadFile("testdata/examples/world.sh")
	if err != nil {
		t.Fatal(err)
	}
	script := bytes.NewBuffer(world)
	all := strings.Join(append(slices.Clone(commands), prepared[p.name]), "\n")
	for line := range strings.Lines(prepared[p.name]) {
		fmt.Fprintf(script, "(%s) >prepare.out 2>&1 </dev/null || { cat prepare.out; exit 1; }\n", strings.TrimSpace(line))
	}
	for i, command := range commands {
		if command == "" {
			continue
		}
		// A server before it goes into the background before it listens: a client
		// is tried again.
		tries := 1
		if strings.Contains(command, " -c $WIRERATE_") {
			tries = 20
		}
		fmt.Fprintf(script, "[ ! -e %d.log ] || cp %[1]d.log a.log\n", i)
		fmt.Fprintf(script, "for try in $(seq %d); do s=0; timeout --foreground -k 5 ${LIMIT:-600} bash -c %s </dev/null >%d.out 2>&1 || s=$?; [ $s = 0 ] && break; sleep 0.3; done; echo $s >%[3]d.status\n",
			tries, sh.Quote(command), i)
	}
	var hosts []string
	for _, m := range namedHost.FindAllStringSubmatch(all, -1) {
		hosts = append(hosts, m[1])
	}
	slices.Sort(hosts)
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script.String())
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "HOSTS="+strings.Join(slices.Compact(hosts), " "), "SOURCE="+source)
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i, command := range commands {
		if command == "" {
			continue
		}
		out, _ := os.ReadFile(filepath.Join(folder, strconv.Itoa(i)+".out"))
		data, _ := os.ReadFile(filepath.Join(folder, strconv.Itoa(i)+".status"))
		if strings.Contains(string(out), "disturbed from outside") {
			t.Logf("%s: this machine is too busy: %s", command, out)
			continue
		}
		if status := strings.TrimSpace(string(data)); status != "0" && (status != "1" || !negative.MatchString(command)) {
			t.Errorf("%s\nexit status %s: %s", command, status, out)
		}
	}
}
