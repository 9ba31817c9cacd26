package change

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/plan"
)

// The scripts of a change. They are plain POSIX sh, so that the target can
// take a change back without wirerate, and they use no other programs than the
// ones that reach the settings and handle files.
//
// Beside them in the journal's folder lie "progress", with a line for every
// step of a write ("begin N" before item N is written, "done N VALUE ." with what
// the kernel made of it, the point telling that the line is whole; "applying",
// "complete" and "undoing" tell how far the whole is), "state" (pending,
// confirming, confirmed or rolled-back), "files" with the old and new content of
// the files that confirm writes, "timer" with the number of the dead-man timer
// that counts, its FIFO "wake", and, while a script runs, "busy".

// scriptPrologue defines what the scripts share. $v holds a value; plain
// writes it with single spaces, as it is compared.
const scriptPrologue = `set -u
LC_ALL=C; export LC_ALL
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"; export PATH
nl='
'
say() { printf '%s\n' "$*"; }
plain() { set -f; set -- $v; v="$*"; set +f; }
folder() { d=${1%/*}; d=${d:-/}; }
why() { m=$( { say x | cat >"$dir/.why"; } 2>&1 ); rm -f "$dir/.why"; say "the journal in $dir cannot be written${m:+: ${m##*: }}"; }
`

// readProgress sets p_N to begin or done, w_N to the last value of item N,
// started to yes when there is any progress,
// applying, complete and undoing to yes where they are in it, and rebooted to
// yes when the mark of this boot is gone.
const readProgress = `marked=no; rebooted=no; started=no; applying=no; complete=no; undoing=no
if [ -r "$dir/progress" ]; then
 started=yes
 while read -r word n value; do
  case $word in marked|applying|complete|undoing) eval "$word=yes" ;; esac
  case $n in ''|*[!0-9]*) continue ;; esac
  case $word$value in
  done*.) value=${value%.}; eval "p_$n=done; w_$n=\${value% }" ;;
  begin|done*) eval "p_$n=begin" ;;
  esac
 done <"$dir/progress"
fi
if [ $marked = yes ] && [ ! -e "$mark" ]; then rebooted=yes; fi
`

// goneFunctions tell what is not there any more from what cannot be read now, by
// what the programs say of it ($v) or by its file.
const goneFunctions = `some() { for f in "$1"/*; do [ -e "$f" ] && return 0; done; return 1; }
gone() {
 [ -z "$2" ] || { [ ! -e "$2" ] && some "$3"; return; }
 case $v in *"No such device"*|*"no device matches name"*|*"does not exist"*|*"no such interface"*|*"no such route"*|*"nknown oid"*|*" level name "*" is invalid"*) ;;
 *"does not show it"|*"does not have it"|*"/dev/pf: No such file"*) ;; *) return 1 ;; esac
}
`

// goneWords are gone's arguments for an item: its file and the kernel's tree that
// the file is in.
func (c *Change) goneWords(i int) string {
	file := c.Items[i].knob.file
	if file == "" {
		return "'' ''"
	}
	tree, _, _ := strings.Cut(strings.TrimPrefix(file, c.root+"/"), "/")
	if tree == "proc" {
		tree = "proc/sys"
	}
	return quote(file) + " " + quote(c.root+"/"+tree)
}

// howFar says in cut why a change is not in place as a whole; empty: it is. The
// items are the numbers of the settings that it writes itself.
const howFar = `cut=
if [ $undoing = yes ]; then cut='a rollback of it was begun'
elif [ $started = no ]; then cut='nothing of it is written'
elif [ $applying = no ]; then cut='it belongs to an experiment, which takes it back itself'
elif [ $complete = no ]; then
 n=0; for i in $items; do eval "[ \"\${p_$i-}\" != done ] || n=$((n+1))"; done
 set -- $items; cut="apply did not come to its end: $n of $# settings are written"
fi
`

// functions writes get_N and put_N for every item, and batch.
func functions(system catalog.System, items []Item) string {
	var b strings.Builder
	b.WriteString(readFunctions(system, items))
	for i, it := range items {
		get, put := it.knob.get, it.knob.put
		switch {
		case it.knob.sysctl != "":
			get, put = fmt.Sprintf("ask %d %s", i, quote(it.knob.sysctl)), "tell "+quote(it.knob.sysctl)+` "$1"`
		case it.knob.file != "":
			get = fmt.Sprintf("cached %d || %s", i, get)
		}
		fmt.Fprintf(&b, "get_%d() { %s; }\nput_%d() { %s; }\n", i, get, i, put)
	}
	return b.String()
}

// readScript prints "N ok VALUE" or "N failed WHY" for every item. With tunables, what sysctl(8)
// does not know is looked for among the values that FreeBSD's loader gave the kernel.
func readScript(system catalog.System, items []Item, tunables bool) string {
	var b strings.Builder
	b.WriteString(scriptPrologue + functions(system, items) + "batch\n")
	for i, it := range items {
		get := fmt.Sprintf("get_%d", i)
		if tunables && system == catalog.FreeBSD && it.knob.sysctl != "" {
			get += " || { k=$(kenv -q " + quote(it.knob.sysctl) + " 2>/dev/null) && v=$k; }"
		}
		fmt.Fprintf(&b, "if %s; then plain; say \"%d ok $v\"; else plain; say \"%d failed $v\"; fi\n", get, i, i)
	}
	return b.String()
}

// scriptHead begins a script that lies on the target's disk. In a network
// namespace it enters that one first.
func (c *Change) scriptHead(enter []string, does string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/bin/sh\n# %s change %s of wirerate.\n", does, c.ID)
	if len(enter) > 0 {
		var words []string
		for _, w := range enter {
			words = append(words, quote(w))
		}
		fmt.Fprintf(&b, "if [ -z \"${WIRERATE_INSIDE-}\" ]; then WIRERATE_INSIDE=1 exec %s env WIRERATE_INSIDE=1 sh \"$0\" "+
			"\"$@\"; fi\n", strings.Join(words, " "))
	}
	b.WriteString(scriptPrologue + busyFunctions + fileFunctions + "dir=" + quote(c.Dir) + "; id=" + quote(c.ID) +
		"; mark=" + quote(c.bootMark()) + "\n" + functions(c.System, c.Items))
	return b.String()
}

// undoFunction takes back one item: NUMBER SETTING OLD HOW OURS FILE TREE.
const undoFunction = `in_use() { case $1 in *"in use"*|*"evice busy"*|*"esource busy"*) ;; *) return 1 ;; esac; }
undo() {
 eval "p=\${p_$1-}; w=\${w_$1-}"
 if ! get_$1; then
  plain
  if gone $1 "$6" "$7"; then [ $pass = 1 ] || [ -z "$p" ] || say "gone $2 is not there any more: nothing of it is left to restore"
  elif [ $pass = 2 ]; then say "failed $2 cannot be read: $v"; bad=1; fi
  return
 fi
 plain
 if [ "$v" = "$3" ]; then [ $pass = 1 ] || eval "[ -z \"\${c_$1-}\" ]" || say "restored $2 $3"; return; fi
 if [ $started = yes ] && [ "$v" = "$5" ]; then p=begin; fi
 if [ $pass = 1 ] && { [ -z "$p" ] || { [ "$p" = done ] && [ "$v" != "$w" ]; }; }; then
  eval "f_$1=1"
  if [ $rebooted = yes ] && [ $persisted = no ]; then
   say "booted $2 is $v since the machine was started again, which took back what the change wrote"; return
  fi
  n=$v; case $2 in ` + FirewallNFT + `|` + FirewallPFRules + `) n='another set of rules' ;; esac
  say "foreign $2 is $n, changed by someone else; left as it is"; foreign=1; return
 fi
 if eval "[ -n \"\${f_$1-}\" ]"; then return; fi
 m=$(put_$1 "$3" 2>&1)
 if [ $pass = 1 ]; then eval "c_$1=1"; return; fi
 get_$1 && plain
 case $m in "now "*) m= ;; esac
 if [ "$v" = "$3" ]; then say "restored $2 $3"
 elif [ "$4" = raised ] && [ -n "$m" ]; then say "kept $2 is $v until the machine is started again: the kernel does not lower it to $3"; kept=1
 elif [ "$4" = module ] && in_use "$m"; then say "kept $2 is $v: it is in use"; kept=1
 else say "failed $2 is $v and should be $3 $m"; bad=1; fi
}
`

// rollbackScript takes back the files that confirm wrote, then, last item
// first, what progress says was written; a second pass repairs what the kernel
// rewrote during the first. A value that somebody else changed meanwhile is
// reported and left alone.
func (c *Change) rollbackScript(enter []string) string {
	var b strings.Builder
	b.WriteString(c.scriptHead(enter, "Takes back") + restoreFile + goneFunctions)
	b.WriteString(`trap '' HUP PIPE
take
bad=0; foreign=0; kept=0; persisted=no; s=
read -r s 2>/dev/null <"$dir/state" && case $s in confirming|confirmed) persisted=yes ;; esac
if [ -n "${WIRERATE_TIMER-}" ]; then
 read -r g 2>/dev/null <"$dir/timer" || g=1
 [ "$g" = "$WIRERATE_TIMER" ] && [ "$s" = pending ] || exit 0
fi
` + readProgress + `[ $started = no ] || { say undoing >>"$dir/progress"; } 2>/dev/null
` + undoFunction)
	for i, f := range c.Files {
		fmt.Fprintf(&b, "restore_file %d %s %s %s %s\n", i, quote(f.Path), yesNo(f.Existed), f.compare(), quote(f.Folder))
	}
	b.WriteString("all() {\nbatch\n")
	for i := len(c.Items) - 1; i >= 0; i-- {
		how, it := "any", c.Items[i]
		switch {
		case OnlyRaised(c.System, it.Setting):
			how = "raised"
		case isLoadedModule(c.System, it.Setting):
			how = "module"
		}
		// A value that the change was to write is its own, should progress be damaged.
		ours := it.Old
		if v, ok := c.wanted[it.Setting]; ok {
			ours = strings.Join(strings.Fields(v), " ")
		}
		fmt.Fprintf(&b, "undo %d %s %s %s %s %s\n", i, quote(it.Setting), quote(it.Old), how, quote(ours), c.goneWords(i))
	}
	b.WriteString(`:
}
pass=1; all; pass=2; all
if [ $bad = 1 ]; then say 'result failed'; exit 4; fi
state_anyhow rolled-back || { say 'result failed'; exit 4; }
release
if [ $foreign = 1 ] || [ $kept = 1 ]; then say 'result foreign'; exit 1; fi
say 'result restored'
`)
	return b.String()
}

// confirmScript makes a pending change last: it looks for what somebody else
// changed, writes the files, and ends the dead-man timer's duty. Running it
// again finishes what a crash interrupted.
func (c *Change) confirmScript(enter []string) string {
	var b strings.Builder
	b.WriteString(c.scriptHead(enter, "Makes lasting") + restoreFile + "items='" + c.numbers() + "'\n")
	b.WriteString(`trap '' HUP PIPE
take
read -r s 2>/dev/null <"$dir/state" || s=damaged
case $s in confirmed) say 'result confirmed'; exit 0 ;; pending|confirming) ;; *) say "failed the change is $s: there is nothing to confirm"; exit 4 ;; esac
foreign=0; bad=0; persisted=no
` + readProgress + howFar + `[ -z "$cut" ] || { say "cut $cut"; exit 4; }
check() {
 eval "p=\${p_$1-}; w=\${w_$1-}"
 [ -n "$p" ] || return 0
 if ! get_$1; then say "foreign $2 cannot be read any more"; foreign=1; return; fi
 plain
 if [ "$v" = "$w" ]; then return; fi
 if [ "$v" = "$3" ] && [ "$4" = set ] && [ $rebooted = yes ]; then
  m=$(put_$1 "$w" 2>&1); get_$1; plain
  if [ "$v" = "$w" ]; then say "applied $2 $w"; return; fi
 fi
 n=$v
 case $2 in ` + FirewallNFT + `|` + FirewallPFRules + `) n='another set of rules'; w='the other' ;; esac
 say "foreign $2 is $n, changed by someone else after it was set to $w"; foreign=1
}
check_file() {
 p=$(real "$2")
 if same "$dir/files/$1.new" "$p" "$4"; then return; fi
 if as_before "$@"; then return; fi
 say "foreign $2 was changed by someone else since the change began"; foreign=1
}
persist() {
 [ $bad = 0 ] || return 0
 p=$(real "$2")
 if same "$dir/files/$1.new" "$p" exact; then return; fi
 if m=$(put_file "$dir/files/$1.new" "$p" "$3" 2>&1); then say "written $2"; else say "failed $2 cannot be written: $m"; bad=1; fi
}
`)
	b.WriteString("batch\n")
	for i, it := range c.Items {
		fmt.Fprintf(&b, "check %d %s %s %s\n", i, quote(it.Setting), quote(it.Old),
			map[bool]string{true: "watched", false: "set"}[it.Watched])
	}
	for i, f := range c.Files {
		fmt.Fprintf(&b, "check_file %d %s %s %s\n", i, quote(f.Path), yesNo(f.Existed), f.compare())
	}
	b.WriteString("if [ $foreign = 1 ] && [ -z \"${WIRERATE_ANYWAY-}\" ]; then say 'result foreign'; exit 1; fi\n")
	b.WriteString("state confirming 2>/dev/null || { say \"failed $(why)\"; exit 4; }\n")
	for i, f := range c.Files {
		if !f.Now {
			fmt.Fprintf(&b, "persist %d %s %o\n", i, quote(f.Path), f.mode())
		}
	}
	b.WriteString("if [ $bad = 1 ]; then\n")
	for i, f := range c.Files {
		if !f.Now {
			fmt.Fprintf(&b, " restore_file %d %s %s %s %s >/dev/null\n", i, quote(f.Path), yesNo(f.Existed), f.compare(),
				quote(f.Folder))
		}
	}
	b.WriteString(" state pending; say 'result failed'; exit 4\nfi\n")
	for i, f := range c.Files {
		if f.Now {
			fmt.Fprintf(&b, "restore_file %d %s %s %s %s >/dev/null\n", i, quote(f.Path), yesNo(f.Existed), f.compare(),
				quote(f.Folder))
		}
	}
	b.WriteString("state confirmed 2>/dev/null || { say \"failed $(why); confirm again\"; exit 4; }\nrelease\nsay " +
		"'result confirmed'\n")
	return b.String()
}

// writePrologue begins the scripts that write while a change is pending.
func (c *Change) writePrologue() string {
	return scriptPrologue + busyFunctions + wakeFunction + "dir=" + quote(c.Dir) + "; id=" + quote(c.ID) + "; mark=" +
		quote(c.bootMark()) + "\n" + functions(c.System, c.Items) + `
stop() { say "$1" >&2; exit 4; }
unwritable() { stop "$(why)"; }
note() { { say "$*" >>"$dir/progress"; } 2>/dev/null || unwritable; }
still() {
 mine || stop 'another script took over: nothing more is written'
 read -r state 2>/dev/null <"$dir/state" || stop "the journal in $dir is gone: nothing more is written"
 case $state in
 pending) ;;
 rolled-back) stop 'it is rolled back already: its timer ran out, or somebody took it back' ;;
 *) stop "the change is $state: nothing is written" ;;
 esac
 read -r o 2>/dev/null <"$dir/../pending/id" && [ "$o" = "$id" ] || stop "another change took this one's place: nothing is written"
}
take
still
`
}

// setScript writes values in order. It reports each as "set N STATUS VALUE",
// STATUS being ok, differs, refused or foreign, and stops where how says. When
// applying, a value that is no longer what this change found or wrote is left
// alone, and "complete" is the last line when everything is in place. What are
// files is read back together, before anything else is reported or at the end.
func (c *Change) setScript(todo []assignment, how writing) string {
	var b strings.Builder
	b.WriteString(c.writePrologue() + `[ -e "$dir/progress" ] || { mkdir -p "${mark%/*}" && (: >"$mark") && say marked >>"$dir/progress"; } 2>/dev/null
written=
got() {
 note "done $1 $v ."
 eval "w_$1=\$v"
 if [ "$v" = "$2" ]; then say "set $1 ok $v"; else say "set $1 differs $v"; fi
}
read_back() {
 [ -n "$written" ] || return 0
 batch
 for n in $written; do if get_$n; then plain; else v=; fi; eval "got $n \"\$wanted_$n\""; done
 written=
}
foreign() { read_back; say "set $1 foreign $2"; exit 0; }
set_item() {
 mine || stop 'another script took over: nothing more is written'
`)
	if how == applying {
		b.WriteString(` get_$1 || foreign $1 'it cannot be read any more'
 plain; eval "x=\${w_$1-\$3}"
 [ "$v" = "$x" ] || foreign $1 "it is $v, changed by someone else"
`)
	}
	b.WriteString(` m=
 for w in $1 $4; do note "begin $w"; done
 if [ -n "$5" ] && [ -e "$5" ] && { printf '%s\n' "$2" >"$5"; } 2>/dev/null; then
  if [ -z "$4" ]; then written="$written $1"; eval "wanted_$1=\$2"; return; fi
 else
  m=$(put_$1 "$2" 2>&1) || { refused "$@"; return; }
 fi
 read_back
 for w in $4; do eval "b_$w="; if get_$w; then plain; else v=; fi; eval "w_$w=\$v"; note "done $w $v ."; done
 case $m in "now "*) v=${m#now }; plain ;; *) if get_$1; then plain; else v=; fi ;; esac
 got $1 "$2"
}
refused() {
 read_back
 if get_$1; then plain; else v=; fi
 note "done $1 $v ."
 set -f; set -- "$1" $m; set +f; n=$1; shift; say "set $n refused $*"
`)
	if how != regardless {
		b.WriteString(" exit 0\n")
	}
	b.WriteString("}\n")
	if how == applying {
		b.WriteString("note applying\nbatch\n")
	}
	for _, a := range todo {
		it := c.Items[a.item]
		fmt.Fprintf(&b, "set_item %d %s %s %s %s\n", a.item, quote(a.value), quote(it.Old), quote(c.rewrittenBy(a.item)),
			quote(it.knob.file))
	}
	b.WriteString("read_back\n")
	if how == applying {
		b.WriteString(c.writeNow() + c.finish(c.timers))
	}
	return b.String()
}

// numbers are those of the settings that the change itself writes.
func (c *Change) numbers() string {
	var numbers []string
	for i, it := range c.Items {
		if !it.Watched {
			numbers = append(numbers, fmt.Sprint(i))
		}
	}
	return strings.Join(numbers, " ")
}

// bootMark is a file that the systems remove at boot: it tells a value that a
// reboot took back from one that somebody else did.
func (c *Change) bootMark() string {
	if c.passing {
		return path.Join(c.Dir, "mark")
	}
	return bootMark(c.root, c.ID)
}

func bootMark(root, id string) string { return root + "/var/run/wirerate/" + id }

// writeNow writes the files that take effect at the next boot only. On ZFS,
// which the boot loader does not write, a variable of the pool says that the
// file counts once, as nextboot(8) has it; where that cannot be set, "skipped
// PATH WHY" is printed and the file is not written.
func (c *Change) writeNow() string {
	var b strings.Builder
	for i, f := range c.Files {
		if f.Now {
			p := quote(f.Path)
			fmt.Fprintf(&b, "if m=$(once %s 2>&1); then put_file \"$dir/files/%d.new\" %s %o || exit 4; else say skipped %s "+
				"$m; fi\n", p, i, p, f.mode(), p)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return fileFunctions + `once() {
 folder "$1"; z=$(df -T "$d" 2>/dev/null | while read -r fs type l; do [ "$type" != zfs ] || say "${fs%/ROOT/*}"; done)
 [ -z "$z" ] || zfsbootcfg -z "$z" -n freebsd:nvstore -k nextboot_enable -v YES
}
` + b.String()
}

// rewrittenBy lists the items that the kernel rewrites with item i.
func (c *Change) rewrittenBy(i int) string {
	var numbers []string
	for _, pattern := range append(slices.Clone(plan.Rewrites(c.System, c.Items[i].Setting)),
		sameAs(c.System, c.Items[i].Setting)) {
		for j, it := range c.Items {
			if ok, _ := path.Match(pattern, it.Setting); ok && j != i {
				numbers = append(numbers, fmt.Sprint(j))
			}
		}
	}
	return strings.Join(numbers, " ")
}

// watchScript prints "watch NAME VALUE" for what the kernel may rewrite while
// the settings are written.
func watchScript(system catalog.System, settings []string, root string) string {
	var b strings.Builder
	base := root + "/proc/sys/"
	seen := map[string]bool{}
	for _, s := range settings {
		for _, pattern := range plan.Rewrites(system, s) {
			if seen[pattern] {
				continue
			}
			seen[pattern] = true
			if system != catalog.Linux {
				fmt.Fprintf(&b, "if v=$(sysctl -n %s 2>/dev/null) && [ -n \"$v\" ]; then plain; say \"watch %[1]s $v\"; fi\n",
					pattern)
				continue
			}
			before, after, many := strings.Cut(procPath(pattern), "*")
			word := quote(base + before)
			if many {
				word += "*" + quote(after)
			}
			fmt.Fprintf(&b, "for f in %s; do if [ -w \"$f\" ] && v=$(cat \"$f\" 2>/dev/null); then plain; say \"watch ${f#%s} "+
				"$v\"; fi; done\n", word, base)
		}
	}
	return b.String()
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
