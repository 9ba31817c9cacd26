package host

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/wirerate/wirerate/internal/shell"
)

// batchPrologue defines the helpers of a batch script. A line "MARK begin"
// stands before everything, for shells that greet; each operation's output is
// followed by a line "MARK STATUS", its standard error and a line "MARK end".
// Nothing is written to the disk but what the operations write. fsync(1) comes
// before sync(1), which flushes every disk on the systems that have both.
const batchPrologue = `LC_ALL=C; export LC_ALL
PATH="$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"; export PATH
flush() { fsync "$1" 2>/dev/null || sync "$1" 2>/dev/null || sync; }
store() { d=${1%/*}; d=${d:-/}; mkdir -p "$d" || return; t="$d/.$MARK"; (umask 077; cat >"$t") && chmod "$2" "$t" && flush "$t" && mv -f "$t" "$1" && flush "$d" || { rm -f "$t"; return 1; }; }
list() { for f in "$@"; do if [ -e "$f" ]; then printf '%s\n' "$f"; fi; done; }
op() { must=$1; shift; { err=$( { "$@"; } 2>&1 1>&3 3>&- ); st=$?; } 3>&1
printf '\n%s %s\n%s\n%s end\n' "$MARK" "$st" "$err" "$MARK"
if [ "$must" = must ] && [ "$st" != 0 ]; then exit 0; fi; }
`

// batchScript writes the operations as one POSIX shell script.
func batchScript(mark string, ops []Op) (string, error) {
	var b strings.Builder
	b.WriteString("MARK=" + mark + "\nprintf '\\n%s begin\\n' \"$MARK\"\n" + batchPrologue)
	for i, op := range ops {
		line, err := batchLine(op)
		if err != nil {
			return "", err
		}
		must := "try"
		if op.Must {
			must = "must"
		}
		// Cut off anywhere, none of these lines is another valid one.
		fmt.Fprintf(&b, "o%d_() { %s; }\nop %s o%d_\n", i, line, must, i)
	}
	return b.String(), nil
}

func batchLine(op Op) (string, error) {
	if bytes.IndexByte(op.Data, 0) >= 0 {
		return "", fmt.Errorf("%s: data with NUL bytes cannot be sent", op)
	}
	for _, s := range append([]string{op.Path}, op.Args...) {
		if strings.ContainsRune(s, 0) {
			return "", fmt.Errorf("%q: a NUL byte cannot be sent", s)
		}
	}
	input := "printf %s " + shell.Quote(string(op.Data))
	switch op.Action {
	case ActRead:
		return "cat <" + shell.Quote(op.Path), nil
	case ActList:
		return "list " + quotePattern(op.Path) + " </dev/null", nil
	case ActTable:
		return "{ echo 'no such file: the tables of netlink are read on this machine only' >&2; return 1; }", nil
	case ActRun:
		if len(op.Data) > 0 {
			return input + " | " + shell.QuoteAll(op.Args...), nil
		}
		return shell.QuoteAll(op.Args...) + " </dev/null", nil
	case ActWrite:
		return input + " | store " + shell.Quote(path.Clean(op.Path)) + " " +
			strconv.FormatUint(uint64(op.Mode.Perm()), 8), nil
	case ActPoke:
		p := shell.Quote(op.Path)
		return "[ -e " + p + " ] || { echo 'no such file' >&2; return 1; }; printf '%s\\n' " +
			shell.Quote(strings.TrimRight(string(op.Data), "\n")) + " | tee " + p + " >/dev/null", nil
	}
	return "", fmt.Errorf("unknown operation %q", op.Action)
}

// quotePattern quotes all of s but the characters of a shell pattern.
func quotePattern(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("*?[]", r) {
			b.WriteRune(r)
		} else {
			b.WriteString(shell.Quote(string(r)))
		}
	}
	return b.String()
}
