package lint

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/regexp"
)

// releaseInPath finds a release that a path names: .../freebsd-13.2/...
var releaseInPath = regexp.MustCompile(`(?i)(?:^|[/._-])(freebsd|openbsd)[-_]?([0-9]{1,2}\.[0-9])(?:[^0-9]|$)`)

// GuessRelease fills in the release when all files tell the same: files at
// their place below / are for the running kernel, and a path may name a
// release. It says what was guessed, and how; without a guess, the empty text,
// the release stays open.
func GuessRelease(ctx context.Context, inputs []Input, opt *Options) string {
	if opt.Version != "" || len(inputs) == 0 {
		return ""
	}
	if allLocal(inputs, opt.System) {
		answers, err := host.NewLocal().Do(ctx, host.Command("uname", "-r"))
		if err != nil || answers[0].Err() != nil {
			return ""
		}
		v, err := catalog.ParseVersion(answers[0].Text())
		if err != nil {
			return ""
		}
		opt.System, opt.Version = catalog.System(runtime.GOOS), v
		return "the running one"
	}
	system, version := releaseOf(inputs[0].Path)
	for _, in := range inputs[1:] {
		if s, v := releaseOf(in.Path); s != system || v != version {
			return ""
		}
	}
	if version == "" || opt.System != "" && opt.System != system {
		return ""
	}
	opt.System, opt.Version = system, version
	return "which the path names"
}

// allLocal reports whether all inputs are this machine's own files.
func allLocal(inputs []Input, system catalog.System) bool {
	for _, in := range inputs {
		path, err := filepath.Abs(in.Path)
		if err != nil || in.Path == "-" {
			return false
		}
		told := conffile.System(system)
		if told == "" {
			told = conffile.Detect(path, []byte(in.Text[:min(len(in.Text), conffile.DetectSize)])).System
		}
		if told == "" {
			told = conffile.System(runtime.GOOS)
		}
		root, ok := conffile.Root(told, path)
		if !ok || root != "" || string(told) != runtime.GOOS {
			return false
		}
	}
	return true
}

func releaseOf(path string) (catalog.System, catalog.Version) {
	m := releaseInPath.FindStringSubmatch(filepath.ToSlash(path))
	if m == nil {
		return "", ""
	}
	return catalog.System(strings.ToLower(m[1])), catalog.Version(m[2])
}

// CheckRelease refuses a release that is no release of the system: one that is
// more than a major number newer than the newest that the catalog describes.
func CheckRelease(system catalog.System, version catalog.Version) error {
	_, newest := catalog.Supported(system)
	major, _, _ := strings.Cut(string(newest), ".")
	n, err := strconv.Atoi(major)
	if err != nil || !version.AtLeast(catalog.Version(strconv.Itoa(n+2))) {
		return nil
	}
	return fmt.Errorf("--version %s: there is no such release of %s; the newest that the catalog describes is %s",
		version, system.Title(), newest)
}
