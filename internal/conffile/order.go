package conffile

import (
	"path"
	"slices"
	"strings"
)

// linuxDirs are the drop-in directories, the strongest first: a file masks
// files of the same name in the directories after its own.
var linuxDirs = []string{"/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"}

// dropInKinds are the drop-in directories by their last name.
var dropInKinds = []string{"modprobe.d", "modules-load.d", "network", "sysctl.d"}

// freeBSDOrder are FreeBSD's files in the order in which they are read; an
// entry that ends in '/' is a directory, read in the order of names.
//
// Loader: stand/defaults/loader.conf and config.lua read loader_conf_files,
// then loader_conf_dirs, then local_loader_conf_files. rc: load_rc_config of
// rc.subr reads rc_conf_files and then rc.conf.d/NAME for each service. sysctl:
// rc.d/sysctl reads sysctl.conf and sysctl.conf.local.
var freeBSDOrder = []string{
	"/boot/defaults/loader.conf", "/boot/device.hints", "/boot/loader.conf", "/boot/loader.conf.d/",
	"/boot/loader.conf.local",
	"/etc/defaults/rc.conf", "/etc/rc.conf", "/etc/rc.conf.local", "/etc/rc.conf.d/", "/usr/local/etc/rc.conf.d/",
	"/etc/sysctl.conf", "/etc/sysctl.conf.local", "/etc/sysctl.kld.d/", "/etc/rc.local",
}

// openBSDOrder is the same of OpenBSD: etc/rc sets sysctl.conf before
// netstart reads the hostname.if files, and runs rc.local last.
var openBSDOrder = []string{"/etc/rc.conf", "/etc/rc.conf.local", "/etc/sysctl.conf", "/etc/hostname.", "/etc/mygate",
	"/etc/login.conf", "/etc/pf.conf", "/etc/relayd.conf", "/etc/rc.local"}

// Order returns files in the order in which the system reads them, so that the
// last one to set something wins, and the files that it does not read because
// another one masks them. Files whose place is not known (by the end of their
// path, so that copies of a file tree are recognised) stay in the given order
// after the others.
//
// On Linux that is the order of sysctl --system (procps) and of
// systemd-sysctl, which agree: by name over all directories, a file of the same
// name in a stronger directory instead of the weaker one's. /etc/sysctl.conf
// comes last, as procps reads it; systemd-sysctl alone does not read it at all
// unless a link in sysctl.d leads there.
func Order(system System, files []string) (read, masked []string) {
	switch system {
	case FreeBSD:
		return byPlace(freeBSDOrder, files), nil
	case OpenBSD:
		return byPlace(openBSDOrder, files), nil
	case Linux:
		return linuxOrder(files)
	}
	return slices.Clone(files), nil
}

// Places returns where a system reads its files, below the root of its tree: one
// that ends in '/' is a folder, one that ends in '.' the beginning of names.
func Places(system System) []string {
	switch system {
	case FreeBSD:
		return slices.Clone(freeBSDOrder)
	case OpenBSD:
		return slices.Clone(openBSDOrder)
	case Linux:
		places := []string{"/etc/sysctl.conf"}
		for _, kind := range dropInKinds {
			for _, dir := range linuxDirs {
				if kind == "network" {
					dir += "/systemd"
				}
				places = append(places, dir+"/"+kind+"/")
			}
		}
		return places
	}
	return nil
}

// Root tells to which machine's file tree a path belongs: the part of it
// before a place that the system reads, or for a file that has the plain name
// of such a file, its directory. Files of one root are read together; ok is
// false for a file that stands for itself.
func Root(system System, file string) (root string, ok bool) {
	places := openBSDOrder
	full := "/" + strings.TrimPrefix(file, "/")
	switch system {
	case FreeBSD:
		places = freeBSDOrder
	case Linux:
		if strings.HasSuffix(full, "/etc/sysctl.conf") {
			return strings.TrimSuffix(full, "/etc/sysctl.conf"), true
		}
		dir, _ := path.Split(full)
		if of, ok := strings.CutSuffix(dir, "/etc/config/"); ok {
			return of, true // of OpenWrt
		}
		if d, kind := dropInDir(dir); d >= 0 {
			dir = strings.TrimSuffix(dir, "/"+kind+"/")
			return strings.TrimSuffix(strings.TrimSuffix(dir, "/systemd"), linuxDirs[d]), true
		}
		return "", false
	}
	for _, p := range places {
		if i := strings.Index(full, p); i >= 0 && (strings.HasSuffix(p, "/") || strings.HasSuffix(p, ".") ||
			strings.HasSuffix(file, p[1:])) {
			return full[:i], true
		}
	}
	dir, base := path.Split(file)
	for _, p := range places {
		if path.Base(p) == base && !strings.HasSuffix(p, "/") {
			return dir, true
		}
	}
	return "", false
}

func byPlace(order, files []string) []string {
	place := func(file string) (int, string) {
		for i := len(order) - 1; i >= 0; i-- {
			o := order[i]
			switch {
			case strings.HasSuffix(o, "/"):
				dir, base := path.Split(file)
				if strings.HasSuffix("/"+dir, o) {
					return i, base
				}
			case strings.HasSuffix(o, "."):
				if strings.Contains("/"+file, o) {
					return i, path.Base(file)
				}
			case strings.HasSuffix("/"+file, o):
				return i, ""
			}
		}
		return len(order), ""
	}
	out := slices.Clone(files)
	slices.SortStableFunc(out, func(a, b string) int {
		pa, na := place(a)
		pb, nb := place(b)
		if pa != pb {
			return pa - pb
		}
		return strings.Compare(na, nb)
	})
	return out
}

// linuxOrder sorts drop-ins of sysctl.d; systemd.link, modprobe.d and the like
// follow the same rule within their own directories.
func linuxOrder(files []string) (read, masked []string) {
	type dropIn struct {
		file, kind, base string
		dir              int
	}
	var dropIns []dropIn
	var main, rest []string
	for _, f := range files {
		dir, base := path.Split(f)
		if strings.HasSuffix("/"+f, "/etc/sysctl.conf") {
			main = append(main, f)
			continue
		}
		if d, kind := dropInDir("/" + dir); d >= 0 {
			dropIns = append(dropIns, dropIn{f, kind, base, d})
			continue
		}
		rest = append(rest, f)
	}
	slices.SortStableFunc(dropIns, func(a, b dropIn) int {
		if c := strings.Compare(a.kind, b.kind); c != 0 {
			return c
		}
		if c := strings.Compare(a.base, b.base); c != 0 {
			return c
		}
		return a.dir - b.dir
	})
	for i, d := range dropIns {
		if i > 0 && dropIns[i-1].kind == d.kind && dropIns[i-1].base == d.base && dropIns[i-1].dir != d.dir {
			masked = append(masked, d.file)
			dropIns[i].dir = dropIns[i-1].dir
			continue
		}
		read = append(read, d.file)
	}
	return append(append(read, main...), rest...), masked
}

// dropInDir returns the strength of a drop-in directory and what it is for.
func dropInDir(dir string) (strength int, kind string) {
	for _, kind := range dropInKinds {
		for i, root := range linuxDirs {
			parent := root
			if kind == "network" {
				parent = root + "/systemd"
			}
			if strings.HasSuffix(dir, parent+"/"+kind+"/") && (i < len(linuxDirs)-1 || !strings.HasSuffix(dir,
				"/usr"+parent+"/"+kind+"/")) {
				return i, kind
			}
		}
	}
	return -1, ""
}
