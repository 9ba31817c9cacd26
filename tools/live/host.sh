# The host of live.sh: commands on it, what it was like before, and the way back.
# shellcheck shell=sh disable=SC2154,SC2016 # the variables are live.sh's; the host's shell expands its own

# at COMMANDS: runs them on the host, whatever the login shell is there.
at() {
	case $host in
	local) sh -c "$1" ;;
	ns:*) ip netns exec "${host#ns:}" sh -c "$1" ;;
	*) printf '%s\n' "$1" | ssh -F "$work/ssh_config" -o BatchMode=yes -- "$host" sh -s ;;
	esac
}

# ssh_setup writes $work/ssh_config, and ssh_config.cut, with which the file
# $work/cut refuses all connections, and sets $link to the host by ssh. A host that
# is none gets a server on demand, with a key of its own, that listens nowhere.
ssh_setup() {
	link=''
	: >"$work/ssh_config"
	printf 'Match exec "test -e %s/cut"\n ProxyCommand false\nMatch all\n Include %s/ssh_config\n' "$work" "$work" >"$work/ssh_config.cut"
	case $host in
	ssh://*) link=$host ;;
	*) sshd=$(command -v /usr/sbin/sshd) && ssh_server "$work" && link=ssh://root@wirerate-live ;;
	esac
	enter=''
	case $host in ns:*) enter="ip netns exec ${host#ns:} " ;; esac
	[ "$link" != ssh://root@wirerate-live ] || ssh_host wirerate-live "$enter$sshd -i -f $work/sshd_config"
	if [ -n "$config" ]; then
		case $config in /*) ;; *) config=$PWD/$config ;; esac
		printf 'Match all\n Include %s\n' "$config" >>"$work/ssh_config"
	elif [ -f "${HOME:-/root}/.ssh/config" ]; then
		printf 'Match all\n Include ~/.ssh/config\n' >>"$work/ssh_config"
	fi
}

# ssh_server FOLDER: keys, and the configuration of a server that finds them there.
ssh_server() {
	[ -d /var/empty ] || mkdir -p /run/sshd
	for key in host user; do ssh-keygen -q -t ed25519 -N '' -f "$work/$key" || return 1; done
	printf 'HostKey %s/host\nAuthorizedKeysFile %s/user.pub\nStrictModes no\nPermitRootLogin prohibit-password\n' "$1" "$1" >"$work/sshd_config"
}

# ssh_host NAME COMMAND: a host that the command answers for.
ssh_host() {
	printf '%s ' "$1" | cat - "$work/host.pub" >>"$work/known_hosts"
	printf 'Host %s\n IdentityFile %s/user\n IdentitiesOnly yes\n UserKnownHostsFile %s/known_hosts\n ProxyCommand %s\n' \
		"$1" "$work" "$work" "$2" >>"$work/ssh_config"
}

# settings: those that can be written, as far as the system tells which, without
# what the system itself writes.
settings() {
	at 'if [ "$(uname -s)" = FreeBSD ]; then sysctl -aW; else sysctl -a; fi 2>/dev/null' |
		grep -Ev '^(debug|fs\.(dentry|inode|file-nr|quota|aio-nr)|kernel\.(random|ns_last_pid|pty|perf|sched_domain|tainted|hung_task)|dev\.cdrom|vm\.(stat|uvmexp|loadavg|vmmeter)|hw\.(sensors|cpuspeed|perfpolicy)|kern\.(clockrate|cp_time2?|netlivelocks|boottime|nfiles|nthreads|nprocs|random|proc_vmmap|consdev|msgbuf|forkstat|malloc|timecounter))[._:= ]|tcp_fastopen_key|tcp_(available|allowed)_congestion_control|stable_secret' |
		LC_ALL=C sort
}

# still: settings without those that move by themselves.
still() { awk -v file="$work/moving" 'BEGIN { while ((getline name <file) > 0) moving[name] = 1 } { split($0, part, /[:= ]/) } !(part[1] in moving)'; }

as_before() {
	settings | still >"$work/now"
	cmp -s "$work/before" "$work/now"
}

# difference: the first setting that is not as it was.
difference() { diff "$work/before" "$work/now" | sed -n 's/^[<>] //p' | head -n 2 | tr '\n' ' '; }

# unchanged STEP: the settings and the files are those of the start.
unchanged() {
	if ! within 10 as_before; then
		fail "$1: settings differ from the start: $(difference)"
	elif ! files_as_before; then
		fail "$1: files differ from the start: $differing"
	else
		ok "$1: settings and files are those of the start"
	fi
}

# within SECONDS COMMAND...: tries it until it is true.
within() {
	tries=$1
	shift
	until "$@"; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 1
	done
}

# changes STATE: the IDs in the host's journals of that state; "." for all.
changes() {
	wr status "$host" --json 2>/dev/null |
		awk -F'"' -v want="$1" '$2 == "id" { id = $4 } $2 == "state" && (want == "." || $4 == want) && id != "" { print id; id = "" }'
}

# none_pending: none waits, and none was cut before its state was written ("damaged"), which holds the lock too.
none_pending() { wr status "$host" --json >/dev/null 2>&1 && [ -z "$(changes pending)$(changes confirming)$(changes damaged)" ]; }

# progress lists the changes of this host that have begun to write, from its disk,
# which namespaces share.
progress() {
	case $host in
	ns:*) own=${host#ns:} && at "find '/var/lib/wirerate/ns/${own%%\?*}' -name progress -size +0 2>/dev/null" ;;
	*) at 'find /var/lib/wirerate /var/db/wirerate -path "*/ns/*" -prune -o -name progress -size +0 -print 2>/dev/null' ;;
	esac </dev/null
}

# take_back takes pending changes back; what a killed wirerate left may be busy
# for a moment.
take_back() {
	within 60 rolled_back || { say "a change is still pending: wirerate rollback $host"; return 1; }
}

rolled_back() {
	wr rollback "$host" >"$work/said" 2>&1 # also what was cut before its journal was whole
	none_pending
}

# The configuration files that a confirmed change may write.
config_files='for f in /etc/sysctl.conf /etc/sysctl.conf.local /etc/sysctl.d/*.conf /boot/loader.conf /boot/loader.conf.local /boot/nextboot.conf
	/etc/rc.conf /etc/rc.conf.local /etc/rc.local /etc/hostname.[a-z]* /etc/pf.conf /etc/modprobe.d/*.conf /etc/modules-load.d/*.conf
	/etc/systemd/network/*.link /etc/systemd/network/*.network; do [ ! -f "$f" ] || echo "$f"; done'

save_files() {
	at "$(echo "$config_files" | tr '\n' ' ')" >"$work/names" </dev/null
	while read -r f; do
		mkdir -p "$work/files${f%/*}"
		at "cat '$f'" >"$work/files$f" </dev/null
	done <"$work/names"
}

# files_as_before; $differing names those that are not.
files_as_before() {
	at "$(echo "$config_files" | tr '\n' ' ')" >"$work/names.now" </dev/null
	differing=''
	while read -r f; do
		if ! [ -f "$work/files$f" ]; then
			differing="$differing $f"
		elif ! at "cat '$f'" </dev/null 2>/dev/null | cmp -s - "$work/files$f"; then
			differing="$differing $f"
		fi
	done <<-END
		$(sort -u "$work/names" "$work/names.now")
	END
	[ -z "$differing" ]
}

# put_back is for what wirerate itself did not take back: it says each, and each
# is a failure.
put_back() {
	if ! within 10 as_before; then
		diff "$work/now" "$work/before" | sed -n 's/^> //p' >"$work/old"
		while read -r line; do
			name=${line%%[:= ]*}
			value=${line#"$name"}
			value=$(printf '%s' "$value" | sed 's/^\(: \| = \|=\)//')
			fail "$name was left changed and is put back"
			at "sysctl '$name=$value'" >/dev/null 2>&1 </dev/null
		done <"$work/old"
		as_before || say "these are not as they were: $(difference)"
	fi
	files_as_before && return
	for f in $differing; do
		fail "$f was left changed and is put back"
		if [ -f "$work/files$f" ]; then
			{ printf "cat >'%s' <<'END-OF-FILE-%s'\n" "$f" "$seed"; cat "$work/files$f"; echo "END-OF-FILE-$seed"; } >"$work/script"
			at "$(cat "$work/script")"
		else
			at "rm -f '$f'"
		fi
	done
}

# forget removes the journals of what this script did, once all is taken back.
forget() {
	none_pending || return
	wr status "$host" --json 2>/dev/null | awk -F'"' '$2 == "id" { id = $4 } $2 == "dir" { print id, $4 }' >"$work/journals"
	while read -r id dir; do
		case " $(echo "$ids_before" | tr '\n' ' ') " in *" $id "*) continue ;; esac
		case $dir in */"$id") at "rm -r '$dir' && rmdir '${dir%/*}' 2>/dev/null" </dev/null ;; esac
	done <"$work/journals"
}
