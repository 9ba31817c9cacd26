#!/bin/sh
# Tries wirerate on a real FreeBSD, OpenBSD or Linux host, and leaves it as it was.
#
#	live.sh --yes [options] [HOST]
#
# HOST is local (the default), ns:NAME or ssh://root@name[:port]; what follows
# needs root there. It changes settings for seconds at a time, always with
# wirerate's own timer, writes configuration files once for each role, and takes
# everything back: also when it is interrupted. What it cannot take back it says.
set -u
usage="usage: live.sh --yes [--wirerate FILE] [--kernels FILE] [--ssh-config FILE] [--kills N]
               [--seed N] [--skip STEP]... [--keep FOLDER] [HOST]
steps: inspect lint catalog roles kills timer cut tune"
steps="inspect lint catalog roles kills timer cut tune"
roles="bulk web router"
here=$(cd "$(dirname "$0")" && pwd)

say() { echo "live: $*" >&2; }
die() { # STATUS MESSAGE
	status=$1
	shift
	say "$*"
	exit "$status"
}

# shellcheck source=tools/live/host.sh
. "$here/live/host.sh"
# shellcheck source=tools/live/jails.sh
. "$here/live/jails.sh"

yes='' host=local wirerate=$here/../bin/wirerate kernels=$here/../bin/kernels config='' kills=25 skip='' keep=''
seed=$(date +%s)
while [ $# -gt 0 ]; do
	case $1 in
	--yes) yes=1 ;;
	--wirerate | --kernels | --ssh-config | --kills | --seed | --skip | --keep)
		[ $# -gt 1 ] || die 2 "$1 takes a value
$usage"
		case $1 in
		--wirerate) wirerate=$2 ;;
		--kernels) kernels=$2 ;;
		--ssh-config) config=$2 ;;
		--kills) kills=$2 ;;
		--seed) seed=$2 ;;
		--skip) skip="$skip $2" ;;
		--keep) keep=$2 ;;
		esac
		shift
		;;
	local | ns:?* | ssh://?*) host=$1 ;;
	*) die 2 "$1: not an option or a host
$usage" ;;
	esac
	shift
done
for s in $skip; do
	case " $steps " in *" $s "*) ;; *) die 2 "--skip $s: no such step
$usage" ;; esac
done
case $kills$seed in *[!0-9]*) die 2 "--kills and --seed take a number" ;; esac
[ -n "$yes" ] || die 2 "this changes the network settings of $host for some minutes and takes them back; say --yes if that is meant
$usage"
[ -x "$wirerate" ] || die 2 "$wirerate: no program; build it (make build) or name it with --wirerate"

work=$(mktemp -d) || exit 3
failed=0 pid='' confirmed='' ids_before=''
# What is written below $work/result is what --keep keeps.
mkdir "$work/result" "$work/files"

ok() { echo "ok    $*"; }
fail() {
	echo "FAIL  $*"
	failed=$((failed + 1))
}
skipped() { echo "skip  $*"; }
wr() { "$wirerate" --ssh-config "$work/ssh_config" "$@"; }

# said COMMAND...: runs it, its output to $work/said.
said() { "$@" >"$work/said" 2>&1; }
# because: the end of what was said, for a line of the result.
because() { tail -n 3 "$work/said" | tr '\n' ' '; }

# fails NAME COMMAND...: a step that has to end with status 0.
expect() {
	name=$1
	shift
	if said "$@"; then ok "$name"; else
		fail "$name: exit status $?: $(because)"
		return 1
	fi
}

# Everything that is not as it was comes back here, however this ends.
finish() {
	status=$?
	trap '' INT TERM HUP
	trap - EXIT
	[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null
	rm -f "$work/cut"
	jails_down
	if [ -s "$work/before" ]; then
		take_back
		for id in $confirmed; do wr rollback "$id" "$host" >/dev/null 2>&1; done
		put_back
		forget
	fi
	[ -z "$keep" ] || { mkdir -p "$keep" && cp -R "$work/result/." "$keep"; } || say "$keep: the results cannot be kept there"
	if [ "$status" = 0 ] && [ "$failed" -gt 0 ]; then status=1; fi
	if [ "$status" -gt 1 ]; then say "ended early, with exit status $status"; fi
	[ ! -s "$work/before" ] || echo "$failed failed; seed $seed"
	case $(ls "$work") in
	*jail-*) say "$work is kept: something is mounted there" ;;
	*) rm -rf "$work" ;;
	esac
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

begin() {
	ssh_setup
	system=$(at 'uname -s') || die 3 "$host: cannot be reached"
	case $system in FreeBSD | OpenBSD | Linux) ;; *) die 3 "$system: a system that wirerate does not know" ;; esac
	[ "$(at 'id -u')" = 0 ] || die 3 "$host: root is needed there"
	said wr status "$host" --json || die 3 "wirerate status: $(because)"
	! grep -q '"state": "pending"' "$work/said" || die 3 "$host: a change is pending; confirm it or take it back first"
	ids_before=$(changes .)
	save_files
	settings >"$work/early"
	sleep 3
	settings >"$work/start"
	# What moves by itself says nothing.
	diff "$work/early" "$work/start" | sed -n 's/^[<>] \([^:= ]*\).*/\1/p' | sort -u >"$work/moving"
	still <"$work/start" >"$work/before"
	[ -s "$work/before" ] || die 3 "$host: sysctl told nothing"
	cp "$work/before" "$work/result/sysctl"
	runtime=''
	case $host in ns:*) runtime=--runtime-only ;; esac
	echo "$host: $system $(at 'uname -r'), $(wc -l <"$work/before" | tr -d ' ') settings, $("$wirerate" version)"
}

step_inspect() {
	wr inspect "$host" --json --for 2s >"$work/result/inspect.json" 2>"$work/said"
	case $? in # a problem that is found is no failure of this
	0 | 1) ok "inspect" ;;
	*) fail "inspect: $(because)" ;;
	esac
}

step_lint() {
	[ -n "$(ls "$work/files")" ] || { skipped "lint: the host has no such files"; return; }
	expect "lint: $(find "$work/files" -type f | wc -l | tr -d ' ') files" wr lint --from "$host" --fail-on never --json "$work/files" &&
		cp "$work/said" "$work/result/lint.json"
}

# step_catalog compares existence, kind and default of every name with the
# running system. What differs is a finding about the catalog, not a failure.
step_catalog() {
	[ -x "$kernels" ] || { skipped "catalog: no $kernels (go build -o bin/kernels ./tools/kernels)"; return; }
	at 'uname -sr; sysctl -a 2>/dev/null; echo "# writable"; sysctl -aWN 2>/dev/null || :' >"$work/result/dump"
	if said "$kernels" "$work/result/dump"; then
		cp "$work/said" "$work/result/catalog"
		ok "catalog: compared, $(wc -l <"$work/said" | tr -d ' ') lines in the folder of --keep: $(head -n 1 "$work/said")"
	else
		fail "catalog: $(because)"
	fi
}

# planned ROLE: a plan in $work/plan-ROLE, and in $except what a reboot alone
# takes back.
planned() {
	case $1 in web) path=rate=1gbit,rtt=80ms ;; router) path=rate=10gbit,rtt=20ms ;; *) path=rate=10gbit,rtt=100ms ;; esac
	[ -d "$work/plan-$1" ] || said wr plan "$host" --path "$path" --role "$1" -o "$work/plan-$1" || { fail "plan $1: $(because)"; return 1; }
	cp "$work/plan-$1/plan.json" "$work/result/plan-$1.json"
	except=$(awk -F'"' '$2 == "setting" { name = $4 } $2 == "undo" && $4 != "restore" { printf " --except=%s", name }' "$work/plan-$1/plan.json")
	left_out=$(echo "$except" | wc -w | tr -d ' ')
	changed=$(grep -c '"undo": "restore"' "$work/plan-$1/plan.json")
	[ "$changed" -gt 0 ] || { skipped "$1: the plan changes nothing that can be taken back without a reboot"; return 1; }
}

# apply ROLE TIME [HOST CONFIG]; exec makes it the process that calls.
apply() {
	# shellcheck disable=SC2086 # a list of flags
	${exec-} "$wirerate" --ssh-config "${4:-$work/ssh_config}" apply "$work/plan-$1" "${3:-$host}" --skip-absent --confirm-within "$2" $runtime $except
}

# behind ROLE TIME [HOST CONFIG]: apply in the background; $pid is its process.
behind() {
	(exec='exec'; apply "$@") >"$work/said" 2>&1 &
	pid=$!
}

# end_it: kills what is behind without a warning; false when it had ended. The
# host's shell may go on for a moment with what it was given: it is waited for.
end_it() {
	left=$(ps -A -o pid= -o ppid= | awk -v p="$pid" '$2 == p { print $1 }')
	kill -9 "$pid" 2>/dev/null
	killed=$?
	wait "$pid" 2>/dev/null
	within 60 ended "$left"
	pid=''
	return "$killed"
}

# ended PIDS: none of them is there.
ended() { for p in $1; do ! kill -0 "$p" 2>/dev/null || return 1; done; }

step_roles() {
	for role in $roles; do
		planned "$role" || continue
		expect "$role: apply" apply "$role" 300s || { take_back; continue; }
		as_before && fail "$role: nothing is changed after apply"
		said wr verify "$work/plan-$role" "$host" --json # 1: what was left out differs
		differ=$(grep -c '"state": "differs"' "$work/said")
		if [ "$differ" -le "$left_out" ]; then
			ok "$role: verify, all that was applied is as planned"
		else
			fail "$role: verify: $differ settings differ, $left_out were left out"
		fi
		id=$(changes pending)
		confirmed="$confirmed $id"
		expect "$role: confirm" wr confirm "$host" || { take_back; continue; }
		expect "$role: status" wr status "$host"
		expect "$role: rollback" wr rollback "$id" "$host"
		unchanged "$role"
	done
}

# random N LOW HIGH: the Nth number of this seed.
random() { awk -v s="$seed" -v n="$1" -v a="$2" -v b="$3" 'BEGIN { srand(s % 100000 * 100 + n); for (i = 0; i < 10; i++) x = rand(); printf "%.3f\n", a + x * (b - a) }'; }

# step_kills kills apply in the middle; every other time nobody takes it back but
# the host's own timer. The window follows how long apply takes here.
step_kills() {
	planned bulk || return
	n=0 span=1 wrong=0 alone=0 during=0
	while [ "$n" -lt "$kills" ]; do
		n=$((n + 1))
		delay=$(random "$n" 0 "$span")
		behind bulk 5s
		sleep "$delay"
		if end_it; then
			during=$((during + 1)) span=$(awk -v d="$span" 'BEGIN { print d * 1.1 }')
		else
			span=$(awk -v d="$delay" 'BEGIN { print d < 0.1 ? 0.1 : d }')
		fi
		if [ $((n % 2)) = 0 ] && within 90 as_before; then alone=$((alone + 1)); fi
		take_back && within 10 as_before || wrong=$((wrong + 1))
	done
	if [ "$wrong" = 0 ]; then
		ok "kills: $kills times, $during of them before apply had ended; $alone times the host's own timer was waited for"
	else
		fail "kills: $wrong of $kills left the host changed"
	fi
	unchanged kills
}

step_timer() {
	planned bulk || return
	expect "timer: apply" apply bulk 5s || return
	as_before && fail "timer: nothing is changed after apply"
	if within 120 as_before; then ok "timer: the host took the change back by itself"; else fail "timer: the host did not take the change back"; fi
	within 30 none_pending || fail "timer: the change is still pending"
	unchanged timer
}

# step_cut ends the ssh client of an apply while it writes, and refuses every
# further connection: the host is alone.
step_cut() {
	[ -n "$link" ] || { skipped "cut: no sshd here"; return; }
	planned bulk || return
	before=$(changes .)
	progress >"$work/begun"
	behind bulk 5s "$link" "$work/ssh_config.cut"
	n=0
	while progress | cmp -s - "$work/begun" && kill -0 "$pid" 2>/dev/null && [ "$n" -lt 600 ]; do
		n=$((n + 1))
		sleep 0.05
	done
	: >"$work/cut"
	ps -A -o pid= -o ppid= | awk -v p="$pid" '$2 == p { print $1 }' | while read -r child; do kill -9 "$child" 2>/dev/null; done
	if within 120 as_before; then ok "cut: the host took the change back by itself"; else fail "cut: the host did not take the change back"; fi
	end_it
	rm -f "$work/cut"
	[ "$(changes .)" != "$before" ] || fail "cut: nothing had begun: $(because)"
	take_back
	unchanged cut
}

# step_tune tunes a path of 20 ms between two hosts of this machine.
step_tune() {
	[ "$host" = local ] || { skipped "tune: of this machine alone"; return; }
	case $system in
	Linux) set -- --lab rate=100mbit,rtt=20ms ;;
	FreeBSD) jails_up || { fail "tune: $(because)"; return; }
		set -- ssh://root@wirerate-live-a --peer ssh://root@wirerate-live-b --address 10.78.0.2 --path rate=200mbit,rtt=20ms ;;
	*) skipped "tune: $system has no namespaces"; return ;;
	esac
	said wr tune "$@" --role bulk --for 3m --pairs 3 --no-history -o "$work/result/tune"
	case $? in 0 | 1) ok "tune: $(because)" ;; *) fail "tune: $(because)" ;; esac
	jails_down
	unchanged tune
}

begin
for step in $steps; do
	case " $skip " in
	*" $step "*) skipped "$step" ;;
	*) "step_$step" ;;
	esac
done
