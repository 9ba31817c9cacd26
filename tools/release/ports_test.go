package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// checkPorts holds the ports against what the Porter's Handbooks of FreeBSD
// (chapters 4 and 15) and OpenBSD demand, and builds the program of the sources as
// they do: with nothing but what is in the archive.
func checkPorts(t *testing.T, ports, sources string) {
	dir := t.TempDir()
	for _, archive := range []string{ports, sources} {
		run(t, "tar", "-C", dir, "-xzf", archive)
	}
	data, err := os.ReadFile(sources)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	root := filepath.Join(dir, "wirerate-v1.2.3-ports")
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if m := regexp.MustCompile(`@[A-Z0-9]+@`).Find(text); m != nil {
			t.Errorf("%s: %s is not filled in", name, m)
		}
		return string(text)
	}
	archive := "wirerate-v1.2.3-src.tar.gz"
	want := fmt.Sprintf("TIMESTAMP = 1700000000\nSHA256 (%s) = %x\nSIZE (%s) = %d\n", archive, sum, archive, len(data))
	if got := read("freebsd/net-mgmt/wirerate/distinfo"); got != want {
		t.Errorf("FreeBSD's distinfo: %s", got)
	}
	want = fmt.Sprintf("SHA256 (%s) = %s\nSIZE (%s) = %d\n", archive, base64.StdEncoding.EncodeToString(sum[:]), archive, len(data))
	if got := read("openbsd/net/wirerate/distinfo"); got != want {
		t.Errorf("OpenBSD's distinfo: %s", got)
	}
	checkFreeBSD(t, read)
	checkOpenBSD(t, read)
	formula := read("homebrew/wirerate.rb")
	if !strings.Contains(formula, fmt.Sprintf("sha256 \"%x\"", sum)) {
		t.Errorf("the formula: %s", formula)
	}
	if _, err := exec.LookPath("ruby"); err == nil {
		run(t, "ruby", "-c", filepath.Join(root, "homebrew/wirerate.rb"))
	} else {
		t.Log("skipped: ruby is not installed")
	}
	built := filepath.Join(dir, "wirerate")
	cmd := exec.Command("go", "build", "-mod=vendor", "-trimpath", "-buildvcs=false", "-ldflags", "-X github.com/wirerate/wirerate/internal/cli.Version=v1.2.3", "-o", built, "./cmd/wirerate")
	cmd.Dir = filepath.Join(dir, "wirerate-v1.2.3-src")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOPROXY=off", "GOFLAGS=", "GOMODCACHE="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the sources do not build by themselves: %v: %s", err, out)
	}
	if out := run(t, built, "version"); !strings.Contains(out, "v1.2.3") {
		t.Error(out)
	}
}

// order wants lines that begin with names in this order.
func order(t *testing.T, what, text string, names ...string) {
	t.Helper()
	at := 0
	for _, name := range names {
		i := strings.Index(text[at:], "\n"+name)
		if i < 0 {
			t.Errorf("%s: %s is missing or not behind what it follows", what, name)
			continue
		}
		at += i
	}
}

func checkFreeBSD(t *testing.T, read func(string) string) {
	makefile := "\n" + read("freebsd/net-mgmt/wirerate/Makefile")
	order(t, "FreeBSD's Makefile", makefile, "PORTNAME=\t", "DISTVERSION=\t1.2.3\n", "CATEGORIES=\tnet-mgmt\n", "MASTER_SITES=\t", "DISTNAME=\t",
		"MAINTAINER=\t", "COMMENT=\t", "WWW=\t", "LICENSE=\t", "LICENSE_FILE=\t", "USES=\t", "USE_RC_SUBR=\twirerate_watch\n", ".include <bsd.port.mk>\n")
	comment := regexp.MustCompile(`\nCOMMENT=\t(.*)`).FindStringSubmatch(makefile)[1]
	if len(comment) > 70 || strings.HasSuffix(comment, ".") || !regexp.MustCompile(`^[A-Z]`).MatchString(comment) {
		t.Errorf("COMMENT: %q", comment)
	}
	for i, line := range strings.Split(makefile, "\n") {
		if strings.HasPrefix(line, " ") || strings.TrimRight(line, " \t") != line {
			t.Errorf("FreeBSD's Makefile, line %d: white space: %q", i, line)
		}
	}
	for i, line := range strings.Split(read("freebsd/net-mgmt/wirerate/pkg-descr"), "\n") {
		if len(line) > 80 {
			t.Errorf("pkg-descr, line %d: %d characters", i+1, len(line))
		}
	}
	rc := read("freebsd/net-mgmt/wirerate/files/wirerate_watch.in")
	order(t, "the rc.d script", rc, "# PROVIDE: wirerate_watch\n", "# REQUIRE: ", "# KEYWORD: ", ". /etc/rc.subr\n", "name=\"wirerate_watch\"\n", "rcvar=\"wirerate_watch_enable\"\n",
		"load_rc_config \"$name\"\n", ": \"${wirerate_watch_enable:=NO}\"\n", "run_rc_command \"$1\"\n")
	plist := read("freebsd/net-mgmt/wirerate/pkg-plist")
	for _, want := range []string{"bin/wirerate\n", "share/man/man1/wirerate-lint.1.gz\n", "share/zsh/site-functions/_wirerate\n"} {
		if !strings.Contains(plist, want) {
			t.Errorf("pkg-plist lacks %s", want)
		}
	}
	if !strings.Contains(rc, "%%PREFIX%%/bin/wirerate") {
		t.Errorf("the rc.d script names no program of the port: %s", rc)
	}
	syntax(t, rc)
}

func checkOpenBSD(t *testing.T, read func(string) string) {
	makefile := "\n" + read("openbsd/net/wirerate/Makefile")
	order(t, "OpenBSD's Makefile", makefile, "COMMENT =\t", "V =\t\t1.2.3\n", "DISTNAME =\t", "PKGNAME =\t", "CATEGORIES =\tnet\n", "HOMEPAGE =\t", "MAINTAINER =\t",
		"PERMIT_PACKAGE =\tYes\n", "WANTLIB +=\t", "SITES =\t", "MODULES =\tlang/go\n", ".include <bsd.port.mk>\n")
	if c := regexp.MustCompile(`\nCOMMENT =\t(.*)`).FindStringSubmatch(makefile)[1]; len(c) > 60 || c[0] < 'a' {
		t.Errorf("COMMENT: %q", c) // bsd.port.mk(5): at most 60 characters, no capital
	}
	plist := read("openbsd/net/wirerate/pkg/PLIST")
	for _, want := range []string{"@rcscript ${RCDIR}/wirerate_watch\n", "@bin bin/wirerate\n", "@man man/man1/wirerate-lint.1\n"} {
		if !strings.Contains(plist, want) {
			t.Errorf("PLIST lacks %s", want)
		}
	}
	if len(read("openbsd/net/wirerate/pkg/DESCR")) < 100 {
		t.Error("DESCR is empty")
	}
	rc := read("openbsd/net/wirerate/pkg/wirerate_watch.rc")
	order(t, "the rc script", rc, "daemon=", ". /etc/rc.d/rc.subr\n", "rc_bg=YES\n", "rc_cmd \"$1\"\n")
	syntax(t, rc)
}

// syntax has the shell read a script.
func syntax(t *testing.T, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-n")
	cmd.Stdin = bytes.NewReader([]byte(script))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
