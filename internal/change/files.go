package change

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/host"
	"github.com/wirerate/wirerate/internal/plan"
	"github.com/wirerate/wirerate/internal/regexp"
)

// FileChange is a file that confirm writes, or one for the next boot only that
// is written at once. Its contents lie in the journal's folder, as files/N.old
// and files/N.new.
type FileChange struct {
	Path string `json:"path"`
	Mode uint32 `json:"mode"` // of a new file
	// Existed tells whether there was a file before; Folder is the innermost
	// one of its folders that was there.
	Existed bool   `json:"existed"`
	Folder  string `json:"folder"`
	// Now marks a file that is written by apply: it counts for the next boot
	// alone, and the boot loader may change its first line.
	Now bool `json:"now,omitempty"`

	old, new []byte
}

func (f FileChange) mode() fs.FileMode {
	if f.Mode == 0 {
		return 0o644
	}
	return fs.FileMode(f.Mode)
}

// compare is how the scripts compare the file.
func (f FileChange) compare() string {
	if f.Now {
		return "loose"
	}
	return "exact"
}

// fileOps ask for the files that will be written, and for the innermost of
// each one's folders.
func fileOps(files []plan.File, root string) []host.Op {
	var ops []host.Op
	for _, f := range files {
		p := root + f.Path
		ops = append(ops, host.Read(p), host.Script("d="+quote(path.Dir(p))+"\nwhile [ ! -d \"$d\" ]; do d=${d%/*}; "+
			"d=${d:-/}; done; printf '%s' \"$d\"\n"))
	}
	return ops
}

// planFiles works out what the files will hold. Lines are merged into a file
// that is there already; files of wirerate's own are replaced.
func (c *Change) planFiles(files []plan.File, answers []host.Answer) error {
	for i, f := range files {
		old, folder := answers[2*i], answers[2*i+1]
		if old.Failure != host.None && old.Failure != host.Absent {
			return fmt.Errorf("%s: %s: %w", c.conn.Name(), f.Path, old.Err())
		}
		fc := FileChange{Path: c.root + f.Path, Mode: uint32(f.Mode), Existed: old.Failure == host.None,
			Folder: string(folder.Out), Now: f.Now}
		if f.Now && fc.Folder != path.Dir(fc.Path) {
			c.Notes = append(c.Notes, fmt.Sprintf("the boot settings are not tried for one boot: there is no folder "+
				"%s here", path.Dir(f.Path)))
			continue
		}
		fc.old = old.Out
		f = c.withoutAbsent(f)
		var err error
		if fc.new, err = merged(c.System, f, fc); err != nil {
			return fmt.Errorf("%s: %s: %w", c.conn.Name(), f.Path, err)
		}
		if fc.Existed && bytes.Equal(fc.old, fc.new) {
			continue
		}
		c.Files = append(c.Files, fc)
	}
	return nil
}

// withoutAbsent leaves out the entries of settings that the host does not have.
func (c *Change) withoutAbsent(f plan.File) plan.File {
	var entries []plan.Entry
	for _, e := range f.Entries {
		if _, absent := c.Absent[e.Key]; absent {
			f.Content = strings.Replace(f.Content, e.Text, "", 1)
			continue
		}
		entries = append(entries, e)
	}
	f.Entries = entries
	return f
}

// merged is the content of a file with the plan's entries in it. An entry that
// the file makes already gets the new value where it stands; the others are
// added at the end.
func merged(system catalog.System, f plan.File, fc FileChange) ([]byte, error) {
	if !fc.Existed || len(f.Entries) == 0 {
		return []byte(f.Content), nil
	}
	file, err := conffile.Parse(conffile.Kind(f.Format), conffile.System(system), f.Path, fc.old)
	if err != nil {
		return nil, err
	}
	added := ""
	for _, e := range f.Entries {
		i := lastEntry(file, e.Key)
		if i < 0 || file.Entries[i].Has(conffile.Conditional) || file.Entries[i].Has(conffile.Expands) {
			added += "\n" + e.Text
			continue
		}
		err := file.Set(i, e.Value)
		if errors.Is(err, conffile.ErrShared) {
			added += "\n" + e.Text
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	if added != "" && f.Format == string(conffile.PF) {
		// Options stand before rules (pf.conf(5)).
		return append([]byte(strings.TrimPrefix(added, "\n")+"\n"), file.Bytes()...), nil
	}
	if added != "" {
		if err := file.Append(strings.TrimPrefix(added, "\n")); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), nil
}

func lastEntry(f *conffile.File, key string) int {
	for i, e := range slices.Backward(f.Entries) {
		if e.Name == key || e.Key == key || e.Iface != "" && e.Name+"@"+e.Iface == key {
			return i
		}
	}
	return -1
}

// storeOps put the files' contents into the journal.
func (c *Change) storeOps() []host.Op {
	var ops []host.Op
	for i, f := range c.Files {
		at := path.Join(c.Dir, "files", strconv.Itoa(i))
		if f.Existed {
			ops = append(ops, host.Write(at+".old", f.old, 0o600).OrStop())
		}
		ops = append(ops, host.Write(at+".new", f.new, 0o600).OrStop())
	}
	return ops
}

var shadowLine = regexp.MustCompile(`^([^:]+):\s*-?([^#;=\s]+)\s*=\s*(.*?)\s*$`)

// shadowScript prints the lines of the files that can win over the plan's own
// at the next boot, with the files' names: every sysctl file of a Linux host,
// and what FreeBSD reads after loader.conf, sysctl.conf and rc.conf.
const shadowScript = `set -- /etc/sysctl.conf /etc/sysctl.d/*.conf /run/sysctl.d/*.conf /usr/local/lib/sysctl.d/*.conf /usr/lib/sysctl.d/*.conf /lib/sysctl.d/*.conf \
 /boot/loader.conf.d/*.conf /boot/loader.conf.local /etc/sysctl.conf.local /etc/rc.conf.local
if command -v grep >/dev/null 2>&1; then grep -sH '=' "$@"; exit 0; fi
for f do [ ! -r "$f" ] || while IFS= read -r l; do case $l in *=*) printf '%s:%s\n' "$f" "$l" ;; esac; done <"$f"; done
`

// shadows finds lines of other files that are read after the plan's own and
// give a setting another value at the next boot.
func shadows(system catalog.System, files []plan.File, listing string) []string {
	type line struct{ file, value string }
	set := map[string][]line{}
	var others []string
	for text := range strings.Lines(listing) {
		m := shadowLine.FindStringSubmatch(strings.TrimRight(text, "\n"))
		if m == nil {
			continue
		}
		key, value := m[2], strings.Trim(m[3], `"'`)
		if system == catalog.Linux {
			key = conffile.LinuxName(key)
		}
		set[key] = append(set[key], line{m[1], value})
		if !slices.Contains(others, m[1]) {
			others = append(others, m[1])
		}
	}
	var out []string
	for _, own := range files {
		if own.Now || len(own.Entries) == 0 {
			continue
		}
		read, _ := conffile.Order(conffile.System(system),
			append([]string{own.Path}, slices.DeleteFunc(slices.Clone(others),
				func(f string) bool { return f == own.Path })...))
		after := slices.Index(read, own.Path)
		for _, e := range own.Entries {
			for _, l := range set[e.Key] {
				if sameKind(own.Path, l.file) && slices.Index(read, l.file) > after &&
					strings.Join(strings.Fields(l.value), " ") != e.Value {
					out = append(out, fmt.Sprintf("%s sets %s = %s and is read after %s: it wins at the next boot",
						l.file, e.Key, l.value, own.Path))
				}
			}
		}
	}
	return out
}

// sameKind tells whether two files are read by the same program: sysctl, the
// boot loader, rc.
func sameKind(a, b string) bool {
	for _, kind := range []string{"sysctl", "loader", "rc.conf"} {
		if strings.Contains(a, kind) != strings.Contains(b, kind) {
			return false
		}
	}
	return true
}

// fileFunctions handle the files that confirm writes: same compares, loose
// without the first line; put_file replaces one by rename.
const fileFunctions = `flush() { fsync "$1" 2>/dev/null || sync "$1" 2>/dev/null || sync; }
rest() { read -r l; cat; }
real() { if [ -h "$1" ]; then readlink -f "$1"; else say "$1"; fi; }
same() {
 [ -f "$1" ] && [ -f "$2" ] || return 1
 if [ "$3" = loose ]; then [ "$(rest <"$1")" = "$(rest <"$2")" ]; else cmp -s "$1" "$2"; fi
}
put_file() {
 folder "$2"; mkdir -p "$d" || return 1
 t="$d/.wirerate-$id"
 if [ -f "$2" ]; then cp -p "$2" "$t" && cat "$1" >"$t"; else (umask 077; cat "$1" >"$t") && chmod "$3" "$t"; fi &&
  flush "$t" && mv -f "$t" "$2" && flush "$d" || { rm -f "$t"; return 1; }
}
state() { (say "$1" >"$dir/state.new") && flush "$dir/state.new" && mv -f "$dir/state.new" "$dir/state" && flush "$dir"; }
state_anyhow() {
 state "$1" 2>/dev/null || { rm -f "$dir/state.new"; say "$1" >"$dir/state"; } 2>/dev/null ||
  { say "failed the state $1 is not noted: $(why)"; return 1; }
}
release() { rm -f "$mark"; wake; if read -r v 2>/dev/null <"$dir/../pending/id" && [ "$v" = "$id" ]; then rm -rf "$dir/../pending"; fi; }
` + wakeFunction

// restoreFile takes back one file: NUMBER PATH EXISTED COMPARE FOLDER, the last
// being the innermost folder that was there before.
const restoreFile = `as_before() { if [ "$3" = yes ]; then same "$dir/files/$1.old" "$p" exact; else [ ! -e "$p" ]; fi; }
remove_folders() { d=$1; while [ "$d" != "$2" ] && [ "$d" != / ] && rmdir "$d" 2>/dev/null; do folder "$d"; done; }
restore_file() {
 if [ ! -d "$5" ]; then [ "$persisted" = no ] || say "gone $2: its folder $5 is no longer there"; return 0; fi
 p=$(real "$2"); folder "$p"; rm -f "$d/.wirerate-$id"
 if [ "$3" = no ] && [ ! -e "$p" ]; then remove_folders "$d" "$5"; return; fi
 if [ "$3" = yes ] && same "$dir/files/$1.old" "$p" exact; then return; fi
 if ! same "$dir/files/$1.new" "$p" "$4"; then
  if [ "$persisted" = yes ]; then say "foreign $2 was changed by someone else; left as it is"; foreign=1; fi
  return
 fi
 if [ "$3" = yes ]; then put_file "$dir/files/$1.old" "$p" 644; else rm -f "$p" && flush "$d" && remove_folders "$d" "$5"; fi
 if as_before "$@"; then say "restored $2"; else say "failed $2 cannot be restored"; bad=1; fi
}
`
