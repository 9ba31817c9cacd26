package change

// busyFunctions let one script at a time work on a change. The folder "busy" is
// its owner's, which keeps the FIFO "alive" in it open as long as it lives,
// however it ends: who reads from it sees its end at once, in whatever PID
// namespace. Where FIFOs cannot be made, the owner's number counts, in its own
// PID namespace only. A living owner is overtaken after two minutes; mine tells
// a script whether it was, so that it stops. A disk that holds no lock stops
// nobody.
const busyFunctions = `own=
fifo() {
 f=$1
 until mkfifo -m 600 "$f" 2>/dev/null; do [ -e "$f" ] || return 1; f=$f.; done
}
outlived() { # waits for busy's owner, two minutes at most, and says ended or late
 ( z=; trap '[ -z "$z" ] || kill $z; exit' TERM; sleep 120 & z=$!; wait $z; say late 1<>"$dir/busy/alive" ) >/dev/null 2>&1 8>&- & l=$!
 ( exec 7<>"$dir/busy/alive" 6<"$dir/busy/alive" 7>&-; read -r x <&6 || x=ended; say "$x" ) 2>/dev/null
 kill $l 2>/dev/null
}
drop() { o=; read -r o 2>/dev/null <"$dir/busy/pid"; [ "$o" != "$p" ] || rm -rf "$dir/busy"; }
take() {
 n=0; own="$$@$(readlink /proc/self/ns/pid 2>/dev/null)"
 if fifo "$dir/alive.$$"; then exec 8<>"$f"; else f=; fi
 while ! mkdir "$dir/busy" 2>/dev/null && [ -d "$dir/busy" ]; do
  p=; read -r p 2>/dev/null <"$dir/busy/pid"
  if [ -p "$dir/busy/alive" ]; then
   case $(outlived) in ended) drop ;; late) drop; sleep 2 ;; *) sleep 1 ;; esac
  elif [ $n -ge 120 ]; then drop; sleep 2; n=0
  elif [ -n "$p" ] && [ "${p#*@}" = "${own#*@}" ] && ! kill -0 "${p%%@*}" 2>/dev/null; then drop
  elif [ -z "$p" ] && [ $n -ge 3 ]; then drop
  else n=$((n+1)); sleep 1
  fi
 done
 { say "$own" >"$dir/busy/pid"; } 2>/dev/null || own=
 [ -z "$f" ] || mv -f "$f" "$dir/busy/alive" 2>/dev/null || rm -f "$f"
 trap '! mine || rm -rf "$dir/busy"' EXIT
}
mine() { [ -z "$own" ] || { read -r o 2>/dev/null <"$dir/busy/pid" && [ "$o" = "$own" ]; }; }
`
