package lint

import (
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/regexp"
)

// imageBase is the first instruction of a file from which an image of containers is built,
// and hostImage names what such an image is when a machine boots from it, or when systemd
// runs in the container.
var (
	imageBase = regexp.MustCompile(`\A(?:[ \t]*(?:#.*|ARG[ \t].*)?\r?\n)*FROM[ \t]+[^ \t\n]`)
	hostImage = regexp.MustCompile(`(?i)bootc|ostree|coreos|kairos|rancheros|linuxkit|systemd|/sbin/init|--privileged|sysctl -p|sshd|cron|runuser|\bsu[ \t]`)
)

// builds reports whether a file is a recipe for an image of containers.
func builds(f *source) bool {
	name := strings.ToLower(path.Base(f.path))
	return f.kind == conffile.Other && (strings.HasPrefix(name, "dockerfile") || strings.HasPrefix(name, "containerfile") ||
		strings.HasSuffix(name, ".dockerfile")) && imageBase.MatchString(f.text)
}

// image judges a line of a system's file that a recipe for an image writes: a container
// has the kernel, and the limits, that it is started with. Each kind of file is told once.
func (k *checker) image(e conffile.Entry) (f *finding, skip bool) {
	kind := e.In
	if kind == "" && placeOf(k.file.kind, e) == "sysctl" && k.ranInBuild(e) {
		kind = conffile.Script
	}
	if !slices.Contains([]conffile.Kind{conffile.Sysctl, conffile.Limits, conffile.Modprobe, conffile.Script}, kind) ||
		!k.buildsContainer() {
		return nil, false
	}
	told := toldOf{k.file, kind}
	if k.told[told] {
		return nil, true
	}
	k.told[told] = true
	f = &finding{code: "no-effect", severity: Warning, sources: []string{"docker-container-run(1), --sysctl, --ulimit",
		"pam_limits(8)"}}
	switch kind {
	case conffile.Script:
		f.message = "a build cannot set what is the host's: /proc/sys is read-only in it"
		f.because = "sysctl fails, and the build with it; --sysctl sets net.* of a container when it is started, and the rest " +
			"is set on the host."
	case conffile.Limits:
		f.message = "a container does not read its image's limits.conf: give the limits when it is started, --ulimit nofile=N"
		f.because = "pam_limits reads the file when somebody logs in; the program of a container has the limits of the " +
			"service that starts containers."
	case conffile.Sysctl:
		f.message = "a container does not read its image's sysctl.conf: give net.* when it is started, --sysctl NAME=VALUE, " +
			"and set the rest on the host"
		f.because = "Nothing in a container applies the file, and most of its /proc/sys is the host's and read-only."
	default:
		f.message = "a container does not read its image's modprobe.d: the host loads the modules"
		f.because = "A container has the kernel of its host."
	}
	return f, true
}

// buildsContainer reports whether the file is a recipe for an image that no machine boots
// from. Each file is read once.
func (k *checker) buildsContainer() bool {
	yes, known := k.images[k.file]
	if !known {
		yes = builds(k.file) && !hostImage.MatchString(k.file.text)
		k.images[k.file] = yes
	}
	return yes
}

// ranInBuild reports whether a line is an instruction RUN.
func (k *checker) ranInBuild(e conffile.Entry) bool {
	line := k.lineAt(e.KeySpan.Start)
	return strings.HasPrefix(strings.TrimLeft(k.file.text[line.Start:line.End], " \t"), "RUN ")
}

// toldOf is what was told of a file.
type toldOf struct {
	file *source
	kind conffile.Kind
}
