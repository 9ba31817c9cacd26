package change

import (
	"fmt"
	"strings"
)

// The scripts of a change. They are plain POSIX sh, so that the target can
// take a change back without wirerate, and they use no other program than the
// ones that reach the settings.
//
// Beside them in the journal's folder lie two files. "progress" has a line for
// every step of a write: "begin N" before item N is written, "done N VALUE"
// with what the kernel made of it afterwards. "state" is pending, confirmed or
// rolled-back.

// scriptPrologue defines what apply and rollback share. $v holds a value;
// plain writes it with single spaces, as it is compared.
const scriptPrologue = `set -u
LC_ALL=C; export LC_ALL
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"; export PATH
say() { printf '%s\n' "$*"; }
plain() { set -f; set -- $v; v="$*"; set +f; }
`

// functions writes get_N and put_N for every item.
func functions(items []Item) string {
	var b strings.Builder
	for i, it := range items {
		fmt.Fprintf(&b, "get_%d() { %s; }\nput_%d() { %s; }\n", i, it.knob.get, i, it.knob.put)
	}
	return b.String()
}

// rollbackScript takes back, last item first, what progress says was written.
// A value that somebody else changed meanwhile is reported and left alone.
func rollbackScript(id, dir string, enter []string, items []Item) string {
	var b strings.Builder
	b.WriteString("#!/bin/sh\n# Takes back change " + id + " of wirerate. Run it with: sh rollback.sh\n")
	if len(enter) > 0 {
		var words []string
		for _, w := range enter {
			words = append(words, quote(w))
		}
		fmt.Fprintf(&b, "if [ -z \"${WIRERATE_INSIDE-}\" ]; then WIRERATE_INSIDE=1 exec %s env WIRERATE_INSIDE=1 sh \"$0\" \"$@\"; fi\n", strings.Join(words, " "))
	}
	b.WriteString(scriptPrologue + "dir=" + quote(dir) + "\n" + functions(items))
	b.WriteString(`bad=0; foreign=0
if [ -r "$dir/progress" ]; then
 while read -r word n value; do
  case $n in ''|*[!0-9]*) continue ;; esac
  case $word in begin) eval "p_$n=begin" ;; done) eval "p_$n=done; w_$n=\$value" ;; esac
 done <"$dir/progress"
fi
undo() {
 eval "p=\${p_$1-}; w=\${w_$1-}"
 if ! get_$1; then say "failed $2 cannot be read"; bad=1; return; fi
 plain
 if [ "$v" = "$3" ]; then return; fi
 if [ -z "$p" ] || { [ "$p" = done ] && [ "$v" != "$w" ]; }; then say "foreign $2 is $v, changed by someone else; left as it is"; foreign=1; return; fi
 put_$1 "$3"
 get_$1 && plain
 if [ "$v" = "$3" ]; then say "restored $2 $3"; else say "failed $2 is $v and should be $3"; bad=1; fi
}
`)
	for i := len(items) - 1; i >= 0; i-- {
		fmt.Fprintf(&b, "undo %d %s %s\n", i, quote(items[i].Setting), quote(items[i].Old))
	}
	b.WriteString(`if [ $bad = 1 ]; then say 'result failed'; exit 4; fi
printf '%s\n' rolled-back >"$dir/state"
if [ -r "$dir/../pending/id" ] && read -r v <"$dir/../pending/id" && [ "$v" = ` + quote(id) + ` ]; then rm -rf "$dir/../pending"; fi
if [ $foreign = 1 ]; then say 'result foreign'; exit 1; fi
say 'result restored'
`)
	return b.String()
}

// setScript writes values in order. It reports each as "set N STATUS VALUE",
// STATUS being ok, differs or refused, and stops at the first refusal when
// stopOnRefusal is set.
func setScript(dir string, items []Item, values []assignment, stopOnRefusal bool) string {
	var b strings.Builder
	b.WriteString(scriptPrologue + "dir=" + quote(dir) + "\n" + functions(items))
	b.WriteString(`read -r state <"$dir/state" || { echo "the journal is gone" >&2; exit 4; }
if [ "$state" != pending ]; then echo "the change is $state: nothing is written" >&2; exit 4; fi
put() {
 say "begin $1" >>"$dir/progress" || exit 4
 if m=$(put_$1 "$2" 2>&1); then status=ok; else status=refused; fi
 if get_$1; then plain; else v=; fi
 say "done $1 $v" >>"$dir/progress" || exit 4
 if [ $status = ok ] && [ "$v" != "$2" ]; then status=differs; fi
 if [ $status = refused ]; then set -f; set -- "$1" $m; set +f; n=$1; shift; say "set $n refused $*"; `)
	if stopOnRefusal {
		b.WriteString("exit 0; ")
	}
	b.WriteString("else say \"set $1 $status $v\"; fi\n}\n")
	for _, a := range values {
		fmt.Fprintf(&b, "put %d %s\n", a.item, quote(a.value))
	}
	return b.String()
}

// deadManScript runs the rollback script after some seconds unless the change
// is no longer pending. It outlives the connection that started it, and ends
// soon after the change is confirmed or rolled back.
func deadManScript(dir string, seconds int) string {
	const wait = `n=$2
while read -r s <"$1/state" && [ "$s" = pending ]; do
 if [ "$n" -le 0 ]; then WIRERATE_INSIDE=1 exec sh "$1/rollback.sh" >"$1/rollback.log" 2>&1; fi
 t=2; if [ "$n" -lt 2 ]; then t=$n; fi
 sleep "$t"; n=$((n - t))
done`
	return fmt.Sprintf("nohup sh -c %s wirerate-dead-man %s %d </dev/null >/dev/null 2>&1 &", quote(wait), quote(dir), seconds)
}
