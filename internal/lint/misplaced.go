package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
)

// declares reports a source that shows how the kernel declares a setting: its own files, or a running system.
func declares(source string) bool {
	return strings.Contains(source, "sys/") || strings.Contains(source, "sysctl") || strings.Contains(source, "SYSCTL") ||
		strings.Contains(source, ".c") && !strings.Contains(source, ".conf")
}

// misplaced judges whether this place can set the setting.
func (k *checker) misplaced(r *catalog.Record, e conffile.Entry, place string) *finding {
	if r.Kind == catalog.ReadOnly && (place == "sysctl" || place == "loader") {
		text := e.Name + " is reported by the kernel and cannot be set"
		return &finding{id: "read-only", code: "read-only", severity: Error, message: text, because: r.Does,
			sources: r.Sources,
			fix:     &Fix{Kind: FixCommentOut, Reason: text}}
	}
	if slices.Contains(r.Belongs, place) || place == "" || k.system != catalog.Linux && (k.kindOf(e) == conffile.Other || k.kindOf(e) == conffile.YAML) {
		return nil // a list of settings does not say where they go
	}
	wrong := func(severity Severity, text, because string, fix *Fix) *finding {
		return &finding{id: "wrong-file", code: "wrong-file", severity: severity, message: text, because: because,
			sources: r.Sources, fix: fix}
	}
	loader, sysctl, rc := slices.Contains(r.Belongs, "loader"), slices.Contains(r.Belongs,
		"sysctl"), slices.Contains(r.Belongs, "rc")
	switch {
	case place == "sysctl" && r.Kind == catalog.Boot && loader:
		if !slices.ContainsFunc(r.Sources, declares) {
			return wrong(Warning, e.Name+" is documented as a variable of the loader; it belongs in /boot/loader.conf",
				"Drivers read such a variable when they start; whether a running kernel takes it was not looked up.", nil)
		}
		return wrong(Error, e.Name+" is read at boot only, so sysctl refuses it; it belongs in /boot/loader.conf",
			"The variable is a tunable that the running kernel does not take.",
			&Fix{Kind: FixMove, To: "/boot/loader.conf", Text: fmt.Sprintf("%s=%q", e.Name, e.Value),
				Reason: "moved to /boot/loader.conf: read at boot only"})
	case place == "sysctl" && r.Kind == catalog.Both && loader && !sysctl:
		return wrong(Warning, e.Name+" is read when the driver attaches, which is before sysctl.conf; it "+
			"belongs in /boot/loader.conf",
			"The kernel takes the value, and nothing uses it until the driver attaches again.",
			&Fix{Kind: FixMove, To: "/boot/loader.conf", Text: fmt.Sprintf("%s=%q", e.Name, e.Value),
				Reason: "moved to /boot/loader.conf: read when the driver attaches"})
	case place == "sysctl" && rc && !sysctl && !loader:
		return wrong(Error, e.Name+" is a variable of rc.conf; sysctl does not know it", r.Does, nil)
	case place == "loader" && r.Kind == catalog.Runtime && sysctl:
		return wrong(Warning, e.Name+" is not a boot-time tunable, so the loader's value is not used; it "+
			"belongs in /etc/sysctl.conf",
			"The loader passes the variable on, but the kernel does not fetch it when this setting is made.",
			&Fix{Kind: FixMove, To: "/etc/sysctl.conf", Text: e.Name + "=" + e.Value,
				Reason: "moved to /etc/sysctl.conf: no boot-time tunable"})
	case place == "loader" && rc && !sysctl:
		return wrong(Warning, e.Name+" is a variable of rc.conf; nothing reads it from the loader", r.Does, nil)
	case place == "rc" && loader && !sysctl:
		return wrong(Error, e.Name+" is a variable of the boot loader; rc.conf is read after the kernel has started", r.Does,
			&Fix{Kind: FixMove, To: "/boot/loader.conf", Text: fmt.Sprintf("%s=%q", e.Name, e.Value),
				Reason: "moved to /boot/loader.conf"})
	}
	return nil
}
