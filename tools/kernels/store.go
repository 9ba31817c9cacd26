package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

// The files that -write writes, from the top of the repository.
const (
	checkedFile = "catalog/checked.txt"
	pageFile    = "docs/kernels.md"
)

// store merges the results into the files: a release that was asked again takes the
// place of what was found before, others stay.
func store(results []*result) error {
	old, err := os.ReadFile(checkedFile)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	rows := parseChecked(string(old))
	for _, r := range results {
		rows.forget(r)
		for name := range r.agree {
			rows.add(r, name)
		}
		for _, prefix := range r.complete() {
			rows.add(r, "below:"+prefix)
		}
	}
	if err := os.WriteFile(checkedFile, rows.text(), 0o644); err != nil {
		return err
	}
	before, err := os.ReadFile(pageFile)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return os.WriteFile(pageFile, page(string(before), results), 0o644)
}

// checked are the releases by system and name.
type checked map[string][]catalog.Version

func parseChecked(text string) checked {
	rows := checked{}
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] == "#" {
			continue
		}
		for _, v := range fields[2:] {
			rows[fields[0]+" "+fields[1]] = append(rows[fields[0]+" "+fields[1]], catalog.Version(v))
		}
	}
	return rows
}

func (c checked) add(r *result, name string) {
	key := string(r.system) + " " + name
	c[key] = append(c[key], r.version)
	slices.SortFunc(c[key], catalog.Version.Compare)
}

// forget drops the result's release.
func (c checked) forget(r *result) {
	for key, versions := range c {
		if strings.HasPrefix(key, string(r.system)+" ") {
			c[key] = slices.DeleteFunc(versions, func(v catalog.Version) bool { return v == r.version })
		}
	}
}

func (c checked) text() []byte {
	var b bytes.Buffer
	b.WriteString("# Releases whose running kernels bear a record out: system, name, releases. Below a\n" +
		"# prefix that is named by below: that release has no name without a record.\n" +
		"# Written by make kernels.\n")
	for _, key := range slices.Sorted(maps.Keys(c)) {
		if len(c[key]) == 0 {
			continue
		}
		b.WriteString(key)
		for _, v := range c[key] {
			fmt.Fprintf(&b, " %s", v)
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// prefixes are the subtrees that the catalog means to describe in full.
var prefixes = map[catalog.System][]string{
	catalog.Linux: {"fs.", "kernel.", "net.", "net.core.", "net.ipv4.", "net.ipv4.conf.*.", "net.ipv4.neigh.*.",
		"net.ipv4.route.",
		"net.ipv6.", "net.ipv6.conf.*.", "net.ipv6.neigh.*.", "net.ipv6.route.", "net.bridge.",
		"net.mptcp.", "net.netfilter.",
		"net.sctp.", "net.unix.", "user.", "vm."},
	catalog.FreeBSD: {"kern.ipc.", "net.bpf.", "net.inet.", "net.inet.icmp.", "net.inet.ip.",
		"net.inet.tcp.", "net.inet.udp.",
		"net.inet6.", "net.inet6.ip6.", "net.isr.", "net.link.", "security.", "vm."},
	catalog.OpenBSD: {"ddb.", "fs.", "hw.", "kern.", "net.", "net.inet.", "net.inet.icmp.",
		"net.inet.ip.", "net.inet.tcp.",
		"net.inet.udp.", "net.inet6.", "net.pipex.", "net.unix.", "vfs.", "vm."},
}

// lacked counts the records whose names the kernel does not have.
func (r *result) lacked() (n int) {
	for _, problems := range r.problems {
		if slices.Equal(problems, []string{notThere}) {
			n++
		}
	}
	return n
}

// complete are the prefixes below which the kernel has names, no name without a
// record, and every name that has one: a kernel that lacks some is not all of one.
func (r *result) complete() (found []string) {
	for _, prefix := range prefixes[r.system] {
		has, lacks := false, false
		for name := range r.seen {
			if strings.HasPrefix(name, prefix) {
				has = true
				lacks = lacks || slices.Contains(r.problems[name], noRecord)
			}
		}
		for name, problems := range r.problems {
			lacks = lacks || strings.HasPrefix(name, prefix) && slices.Contains(problems, notThere)
		}
		if has && !lacks {
			found = append(found, prefix)
		}
	}
	return found
}

// page is the table for people; rows of releases that were not asked again stay,
// and an update takes the place of the one before it.
func page(before string, results []*result) []byte {
	rows := map[string]string{} // by the system and the release, without its update
	key := func(cells []string) string { return cells[1] + released.FindString(cells[2]) }
	for line := range strings.Lines(before) {
		cells := strings.Split(line, "|")
		if len(cells) > 5 && len(strings.Fields(cells[3])) == 1 && strings.TrimSpace(cells[3]) != "names" &&
			!strings.HasPrefix(cells[1], "-") {
			rows[key(cells)] = line
		}
	}
	for _, r := range results {
		absent := r.lacked()
		row := fmt.Sprintf("| %s | %s | %d | %d | %d | %d |\n", r.system.Title(), r.release, len(r.seen), len(r.agree),
			len(r.problems)-absent, absent)
		rows[key(strings.Split(row, "|"))] = row
	}
	var b bytes.Buffer
	b.WriteString(`# The catalog against running kernels

` + "`make kernels`" + ` boots Debian's kernels, each with two sizes of memory, loads the networking modules, and compares every name
below /proc/sys with the catalog: whether it exists, its default in the initial and in a new network namespace, whether it
can be written, and the limits of its range, by writing them and the values just outside. ` + "`make kernels DUMP=FILE`" + ` reads the
output of ` + "`uname -sr; sysctl -a; echo '# writable'; sysctl -aWN`" + ` from a running BSD instead, and DUMP=ssh://HOST queries a
BSD, which shows less: existence, values and, on FreeBSD, what can be written. A kernel lacks the settings of a module or an
option that it was built without. With WRITE=-write the result is saved, here and for ` + "`wirerate explain`" + `.

| system | release | names | records that agree | that disagree | that this kernel lacks |
|---|---|---|---|---|---|
`)
	for _, row := range slices.Sorted(maps.Values(rows)) {
		b.WriteString(row)
	}
	b.WriteString("\nThe command prints what disagrees, and what a distribution's build sets itself.\n")
	return b.Bytes()
}
