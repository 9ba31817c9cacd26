# Two VNET jails of FreeBSD joined by an epair, each of which delays what it sends
# by 10 ms in dummynet: a path of 20 ms for live.sh.
# shellcheck shell=sh disable=SC2154 # the variables are live.sh's
jails='' epair='' modules=''

jails_up() {
	command -v iperf3 >"$work/said" || { echo "iperf3 is not installed (pkg install iperf3)" >"$work/said"; return 1; }
	[ -n "$link" ] || { echo "there is no sshd" >"$work/said"; return 1; }
	# Without this an ipfw that is loaded lets nothing through.
	kldstat -q -m ipfw || kenv net.inet.ip.fw.default_to_accept=1 >/dev/null
	for m in ipfw dummynet if_epair; do
		kldstat -q -m "$m" || { kldload "$m" && modules="$m $modules"; } >"$work/said" 2>&1 || return 1
	done
	epair=$(ifconfig epair create) && epair=${epair%a} || return 1
	# The network alone is the jails' own: each has the files of this host, to read,
	# and journals for itself.
	sed "s,$work/,/tmp/,g" "$work/sshd_config" >"$work/sshd_config.jail"
	for side in a b; do
		jail_up "$side" >"$work/said" 2>&1 || return 1
		ssh_host "wirerate-live-$side" "jexec wirerate-live-$side /usr/sbin/sshd -i -f /tmp/sshd_config"
	done
}

jail_up() { # SIDE
	root=$work/jail-$1 name=wirerate-live-$1
	mkdir "$root"
	jails="$jails $1"
	mount -t nullfs -o ro / "$root" && mount -t devfs devfs "$root/dev" &&
		mount -t tmpfs tmpfs "$root/tmp" && mount -t tmpfs tmpfs "$root/var/db" || return 1
	cp "$work/host" "$work/host.pub" "$work/user.pub" "$root/tmp/" && cp "$work/sshd_config.jail" "$root/tmp/sshd_config" || return 1
	jail -c "name=$name" "path=$root" "host.hostname=$name" persist vnet "vnet.interface=$epair$1" allow.sysvipc || return 1
	case $1 in a) address=10.78.0.1/24 ;; *) address=10.78.0.2/24 ;; esac
	jexec "$name" sh -ec "ifconfig lo0 127.0.0.1/8 up; ifconfig $epair$1 $address up
		ipfw -q add 100 pipe 1 ip from any to any out via $epair$1; ipfw -q add 65000 allow ip from any to any
		ipfw pipe 1 config bw 200Mbit/s delay 10ms queue 1000Kbytes"
}

jails_down() {
	for side in $jails; do
		jail -r "wirerate-live-$side" 2>/dev/null
		for m in var/db tmp dev ''; do umount -f "$work/jail-$side/$m" 2>/dev/null; done
		rmdir "$work/jail-$side" || say "$work/jail-$side is still mounted"
	done
	# The end of the pair that is left after the jails takes the other along.
	[ -z "$epair" ] || within 10 ifconfig "${epair}a" destroy 2>/dev/null
	for m in $modules; do kldunload "$m" || say "the module $m stays loaded"; done
	jails='' epair='' modules=''
}
