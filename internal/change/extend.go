package change

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/wirerate/wirerate/internal/host"
)

// ErrCannotExtend is wrapped when a change is no longer one that waits in place as
// a whole.
var ErrCannotExtend = errors.New("cannot be given more time")

// Extend starts the dead-man timer of a pending change anew, by its ID; an empty one
// means the one that is pending. The old timer counts until the new one runs. It
// answers which change it was.
func Extend(ctx context.Context, conn host.Conn, stateDir, id string, within time.Duration) (string, error) {
	entries, err := List(ctx, conn, stateDir)
	if err != nil {
		return id, err
	}
	for _, e := range slices.Backward(entries) {
		if e.ID == id || id == "" && e.State == Pending {
			return e.ID, e.extend(ctx, conn, within)
		}
	}
	if id == "" {
		return "", fmt.Errorf("%s: %w: nothing is pending", conn.Name(), ErrNoChange)
	}
	return id, fmt.Errorf("%s: %w: %s", conn.Name(), ErrNoChange, id)
}

func (e Entry) extend(ctx context.Context, conn host.Conn, within time.Duration) error {
	number, err := conn.Do(ctx, host.Read(path.Join(e.Dir, "timer")))
	if err != nil {
		return fmt.Errorf("%s: %w", conn.Name(), err)
	}
	counts, err := strconv.Atoi(number[0].Text())
	if err != nil {
		counts = 1 // as the timers read it
	}
	answers, err := conn.Do(ctx, host.Script(e.extendScript(counts, within)).Within(limit(0)))
	if err != nil {
		return fmt.Errorf("%s: %w", conn.Name(), err)
	}
	said := sayings(string(answers[0].Out))
	switch why := append(said["cut"], said["failed"]...); {
	case len(why) > 0:
		return fmt.Errorf("%s: change %s %w: %s", conn.Name(), e.ID, ErrCannotExtend, why[0])
	case answers[0].Failure != host.None || len(said["extended"]) == 0:
		return fmt.Errorf("%s: change %s %w: %s", conn.Name(), e.ID, ErrCannotExtend, together(nil, answers[0]))
	}
	return nil
}

// extendScript lets timer number counts+1 take over from the one that counts, as
// the owner of the change, so that no rollback runs meanwhile.
func (e Entry) extendScript(counts int, within time.Duration) string {
	c := Change{Journal: e.Journal, Dir: e.Dir}
	c.Within = within.Seconds()
	return scriptPrologue + busyFunctions + wakeFunction + "dir=" + quote(e.Dir) + "; mark=" + quote(bootMark("", e.ID)) + "; items='" + c.numbers() + "'\n" + `
trap '' HUP PIPE
take
s=; read -r s 2>/dev/null <"$dir/state"
[ "$s" = pending ] || { say "failed it is ${s:-damaged}"; exit 4; }
` + readProgress + howFar + fmt.Sprintf(`[ -z "$cut" ] || { say "cut $cut"; exit 4; }
[ $rebooted = no ] || { say 'failed the machine was rebooted, and nothing of it is in place'; exit 4; }
read -r g 2>/dev/null <"$dir/timer" || g=1
[ "$g" = %d ] || { say 'failed somebody else gave it more time at the same moment'; exit 4; }
`, counts) + deadManScript("", e.Dir, counts+1, c.timer()) + fmt.Sprintf(`
{ say %d >"$dir/timer.new" && mv -f "$dir/timer.new" "$dir/timer"; } 2>/dev/null || { say "failed $(why)"; exit 4; }
wake %[1]d
say extended
`, counts+1)
}
