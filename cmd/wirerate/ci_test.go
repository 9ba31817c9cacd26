package main

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// repository makes a git repository whose last commit touches two files, and
// returns its folder and the commit before.
func repository(t *testing.T) (dir, base string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir = t.TempDir()
	put := func(name, text string) {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) string {
		out, status := shell(t, dir, nil, "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org"}, args...)...)
		if status != 0 {
			t.Fatalf("git %q: %s", args, out)
		}
		return strings.TrimSpace(out)
	}
	git("init", "-q", ".")
	put("old/sysctl.conf", "net.ipv4.tcp_tw_recycle = 1\n")
	put(".wirerate.yaml", "os: linux\nversion: \"6.12\"\n")
	git("add", ".")
	git("commit", "-qm", "before")
	base = git("rev-parse", "HEAD")
	put("etc/sysctl.d/a b.conf", "net.ipv4.tcp_tw_recycle = 1\n")
	put("notes.txt", "net.ipv4.tcp_tw_recycle = 1\n")
	git("add", ".")
	git("commit", "-qm", "after")
	return dir, base
}

// shell runs a program in a folder.
func shell(t *testing.T, dir string, env []string, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), exitStatus(err)
}

// TestAction runs the steps of the GitHub Action as GitHub would.
func TestAction(t *testing.T) {
	t.Parallel()
	var action struct {
		Runs struct{ Steps []struct{ Shell, Run string } }
	}
	folder, err := filepath.Abs("../../contrib/action")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(folder, "action.yml"))
	if err == nil {
		err = yaml.Unmarshal(data, &action)
	}
	if err != nil || len(action.Runs.Steps) != 2 {
		t.Fatalf("%v: %+v", err, action)
	}
	dir, base := repository(t)
	for _, c := range []struct {
		env    []string
		status int
		want   string
		not    string
	}{
		{[]string{"BASE=" + base}, 1, "::warning file=etc/sysctl.d/a b.conf,line=1", "old/"},
		{[]string{"BASE=" + base, "FAIL_ON=error"}, 0, "::warning file=etc/sysctl.d/a b.conf,line=1", "old/"},
		{[]string{"BASE=HEAD"}, 0, "no configuration file is touched", "::warning"},
		{[]string{"BASE=0000000000000000000000000000000000000000"}, 1, "::warning file=old/sysctl.conf", "notes"},
		{[]string{"BASE=" + base, "ALL=true", "ARGS=--ignore removed"}, 0, "", "::warning"},
	} {
		for _, step := range action.Runs.Steps {
			out, status := shell(t, dir, append(c.env, "GITHUB_ACTION_PATH="+folder), step.Shell, "-e", "-c", step.Run)
			if strings.Contains(step.Run, "install.sh") {
				if status != 0 {
					t.Errorf("%s: %d: %s", step.Run, status, out)
				}
				continue
			}
			if status != c.status || !strings.Contains(out, c.want) || strings.Contains(out, c.not) {
				t.Errorf("%q: exit status %d: %s", c.env, status, out)
			}
		}
	}
}

// TestGitLab runs the script of the template and reads its report.
func TestGitLab(t *testing.T) {
	t.Parallel()
	var template map[string]struct {
		Variables    map[string]any
		BeforeScript []string `yaml:"before_script"`
		Script       []string
	}
	data, err := os.ReadFile("../../contrib/gitlab/wirerate.yml")
	if err == nil {
		err = yaml.Unmarshal(data, &template)
	}
	job := template["wirerate-lint"]
	if err != nil || len(job.Script) == 0 {
		t.Fatalf("%v: %+v", err, template)
	}
	dir, base := repository(t)
	for from, want := range map[string]int{base: 1, "HEAD": 0} {
		env := []string{"CI_MERGE_REQUEST_DIFF_BASE_SHA=" + from, "WIRERATE_ARGS=", "WIRERATE_FILES=" + job.Variables["WIRERATE_FILES"].(string)}
		out, status := shell(t, dir, env, "sh", "-ec", strings.Join(append(job.BeforeScript, job.Script...), "\n"))
		report, err := os.ReadFile(filepath.Join(dir, "gl-code-quality-report.json"))
		var problems []struct {
			Location struct{ Path string }
		}
		if err == nil {
			err = json.Unmarshal(report, &problems)
		}
		if err != nil || (status != 0) != (want > 0) || len(problems) != want || want > 0 && problems[0].Location.Path != "etc/sysctl.d/a b.conf" {
			t.Errorf("from %s: %v, exit status %d: %s%s", from, err, status, out, report)
		}
	}
}

// TestPreCommit has pre-commit itself read the manifest and run the hooks: that of
// the manifest, with the program of the tests in place of one that is built, and
// that of docs/ci.md.
func TestPreCommit(t *testing.T) {
	t.Parallel()
	program, err := filepath.Abs("../../.venv/bin/pre-commit")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Skip("pre-commit is not installed (make tools)")
	}
	manifest, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := repository(t)
	env := []string{"PRE_COMMIT_HOME=" + t.TempDir()}
	hook := strings.Replace(string(manifest), "language: golang", "language: system", 1)
	configs := []string{"repos:\n- repo: local\n  hooks:\n" + regexp.MustCompile(`(?m)^`).ReplaceAllString(hook, "  ")}
	for _, block := range pageBlocks(t, "../../docs/ci.md") {
		if strings.HasPrefix(block, "repos:") && strings.Contains(block, "repo: local") {
			configs = append(configs, block)
		}
	}
	if len(configs) != 2 {
		t.Fatalf("docs/ci.md shows no local hook: %q", configs)
	}
	manifestFile := filepath.Join(dir, "manifest.yaml")
	os.WriteFile(manifestFile, manifest, 0o644)
	if out, status := shell(t, dir, env, program, "validate-manifest", manifestFile); status != 0 {
		t.Errorf("the manifest: %s", out)
	}
	for _, config := range configs {
		if err := os.WriteFile(filepath.Join(dir, ".pre-commit-config.yaml"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
		shell(t, dir, nil, "git", "add", ".")
		out, status := shell(t, dir, env, program, "run", "--all-files", "wirerate-lint")
		if status != 1 || strings.Count(out, "removed") < 2 || strings.Contains(out, "notes.txt") {
			t.Errorf("%s: exit status %d: %s", config, status, out)
		}
		out, status = shell(t, dir, env, program, "run", "wirerate-lint", "--files", "notes.txt")
		if status != 0 || !strings.Contains(out, "Skipped") {
			t.Errorf("%s: of a text: exit status %d: %s", config, status, out)
		}
	}
}

// pageBlocks are a page's blocks of indented lines, without the indentation.
func pageBlocks(t *testing.T, page string) []string {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, part := range strings.Split(string(data), "\n\n") {
		if strings.HasPrefix(part, "    ") {
			blocks = append(blocks, regexp.MustCompile(`(?m)^ {4}`).ReplaceAllString(part, "")+"\n")
		}
	}
	return blocks
}

// TestPageCI runs the commands of docs/ci.md and reads what they write.
func TestPageCI(t *testing.T) {
	t.Parallel()
	dir, ran := t.TempDir(), 0
	if err := os.WriteFile(filepath.Join(dir, "sysctl.conf"), []byte("net.ipv4.tcp_tw_recycle = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, block := range pageBlocks(t, "../../docs/ci.md") {
		var document any
		if !strings.HasPrefix(block, "wirerate ") {
			if err := yaml.Unmarshal([]byte(block), &document); err != nil || document == nil {
				t.Errorf("%v: %s", err, block)
			}
			continue
		}
		for line := range strings.Lines(block) {
			want := 1
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if strings.HasPrefix(line, "wirerate export") {
				line, want = line+" --history none.db", 0 // no experiments are an empty list
			}
			out, status := shell(t, dir, nil, "sh", "-c", line)
			if status != want {
				t.Errorf("%s: exit status %d: %s", line, status, out)
			}
			ran++
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands were run", ran)
	}
	for _, name := range []string{"lint.sarif", "lint.json", "checkstyle.xml", "junit.xml"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		var document any
		if strings.HasSuffix(name, ".xml") {
			for d := xml.NewDecoder(strings.NewReader(string(data))); err == nil; {
				_, err = d.Token()
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
		} else if err == nil {
			err = json.Unmarshal(data, &document)
		}
		if err != nil || !strings.Contains(string(data), "removed") {
			t.Errorf("%s: %v: %s", name, err, data)
		}
	}
}
