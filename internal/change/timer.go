package change

import (
	"fmt"
	"math"
)

// deadMan waits for the time of the timer NUMBER of a change and then runs the
// rollback script unless the change is no longer pending, again when that fails,
// and finishes a confirmation that was cut off. Of several timers the one counts
// whose number is in the file "timer", and the first one where there is none. A
// line in its FIFO "wake" ends it, and so does what it finds once that is open,
// since a line from before is lost; where FIFOs cannot be made it looks every
// five seconds whether it is still wanted, also before its own number is in the file,
// which changes in one step. sleep does not follow the clock.
const deadMan = `dir=$1; left=$2; number=$3
counts() { read -r g 2>/dev/null <"$dir/timer" || g=1; [ "$g" = "$number" ]; }
superseded() { ! counts && [ "$g" -gt "$number" ]; }
pending() { read -r s 2>/dev/null <"$dir/state" && [ "$s" = pending ]; }
wanted() { { pending || [ "$s" = confirming ]; } && ! superseded; }
if mkfifo -m 600 "$dir/wake$number" 2>/dev/null; then
 exec 9<>"$dir/wake$number"
 sleep "$left" >&9 9>&- & z=$!
 exec 7<"$dir/wake$number" 9>&-
 w=over; if wanted; then w=; read -r w <&7; fi
 rm -f "$dir/wake$number"
 if [ "$w" = over ]; then kill $z; exit 0; fi
fi
while [ "${z-}" = "" ] && [ $left -gt 0 ] && wanted; do
 t=5; [ $left -ge 5 ] || t=$left
 sleep $t; left=$((left-t))
done
n=0
while counts && pending && [ $n -lt 6 ]; do
 [ $n = 0 ] || sleep 10
 n=$((n+1)); WIRERATE_TIMER=$number WIRERATE_INSIDE=1 sh "$dir/rollback.sh" >"$dir/rollback.log" 2>&1
done
counts && [ "$s" = confirming ] || exit 0
sleep 30; read -r s <"$dir/state"; [ "$s" != confirming ] || WIRERATE_INSIDE=1 sh "$dir/confirm.sh" >"$dir/confirm.log" 2>&1
exit 0`

// deadManScript starts a timer of a change. It outlives the connection that
// started it: where systemd runs (sd_booted(3)) it gets a scope of its own, since
// logind may end what a session leaves behind (KillUserProcesses of
// logind.conf(5)); what systemd-run cannot start is started without.
func deadManScript(root, dir string, number, seconds int) string {
	return fmt.Sprintf(`trap '' HUP
t=%s
s=; if command -v setsid >/dev/null 2>&1; then s=setsid; fi
{
 [ -d %s ] && command -v systemd-run && $s systemd-run --scope --quiet --description='the way back of a change by wirerate' sh -c "$t" wirerate-dead-man %s %[4]d %[5]d ||
 $s sh -c "$t" wirerate-dead-man %[3]s %[4]d %[5]d
} </dev/null >/dev/null 2>&1 8>&- &
`, quote(deadMan), quote(root+"/run/systemd/system"), quote(dir), seconds, number)
}

// wakeFunction ends the timers of a change that is closed, or those that another
// one has taken over from: nothing is left of them then.
const wakeFunction = `wake() { for f in "$dir"/wake*; do if [ -p "$f" ] && [ "$f" != "$dir/wake${1-}" ]; then say over 1<>"$f"; fi; done; } 2>/dev/null
`

// finish is the end of an apply: everything is read once more, the timer starts
// anew, so that the user has the whole time to look and to confirm, however slow
// the host is, and progress says that the change is complete. The timer before
// counts until the new one runs.
func (c *Change) finish(number int) string {
	text := readProgress + `moved=
fin() {
 eval "p=\${p_$1-}; w=\${w_$1-}"
 [ "$p" = done ] || return 0
 if get_$1; then plain; [ "$v" != "$w" ] || return 0; v="it is $v after the last setting was written, and was $w: somebody else or another setting changed it"
 else plain; v="it cannot be read any more: $v"; fi
 say "moved $1 $v"; moved=yes
}
batch
`
	for i, it := range c.Items {
		if !it.Watched {
			text += fmt.Sprintf("fin %d\n", i)
		}
	}
	text += "[ -z \"$moved\" ] || exit 0\nstill\n"
	if c.Within > 0 {
		text += deadManScript(c.root, c.Dir, number, c.timer()) +
			fmt.Sprintf("{ say %d >\"$dir/timer.new\" && mv -f \"$dir/timer.new\" \"$dir/timer\"; } 2>/dev/null || "+
				"unwritable\nwake %[1]d\n", number)
	}
	return text + "[ $complete = yes ] || note complete\nsay complete\n"
}

// timer is the dead-man timer's time in whole seconds.
func (c *Change) timer() int { return int(math.Ceil(c.Within)) }
