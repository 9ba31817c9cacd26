#!/bin/sh
# Boots Debian's kernels under QEMU and asks them for their settings:
#	boot.sh FOLDER RANGES	leaves FOLDER/dumps/RELEASE-MEMORY.jsonl
# Needs apt-get of a Debian machine, and installs QEMU, kmod and cpio. The kernels
# come from the archive that the machine itself is installed from.
set -eu
work=$1 ranges=$2
mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/debs" "$work/dumps"
work=$(cd "$work" && pwd)

missing=
for need in qemu-system-x86_64:qemu-system-x86 depmod:kmod cpio:cpio xz:xz-utils zstd:zstd; do
	command -v "${need%%:*}" >/dev/null || missing="$missing ${need##*:}"
done
if [ -n "$missing" ]; then
	# shellcheck disable=SC2086 # a list of names
	apt-get install -qq -y --no-install-recommends $missing >/dev/null
fi

archive=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
for suite in bullseye bookworm bookworm-backports trixie sid; do
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main"
done >"$work/apt/sources.list"
options="-o Dir::Etc::sourcelist=$work/apt/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$work/apt/lists
	-o Dir::Cache=$work/apt/cache -o APT::Sandbox::User=root -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"
# shellcheck disable=SC2086
apt-get $options update -qq
# shellcheck disable=SC2086
images=$(apt-cache $options pkgnames linux-image- | grep -E '^linux-image-[0-9][0-9.]*[0-9](-[0-9]+|\+deb[0-9.]+)-amd64$' | sort -V)

# boot VMLINUZ INITRD RELEASE MEMORY: a dump that is there already is kept. An emulated
# kernel sometimes panics while it starts, so it has three tries.
boot() {
	for try in 1 2 3; do
		boot_once "$@" && return
		echo "boot.sh: $3 with $4 of memory did not finish at try $try; see $work/dumps/$3-$4.log" >&2
	done
	return 1
}

boot_once() {
	dump=$work/dumps/$3-$4.jsonl
	[ -s "$dump" ] && return
	timeout 120 qemu-system-x86_64 -m "$4" -smp 2 -display none -monitor none -no-reboot -nic none \
		-kernel "$1" -initrd "$2" -append 'console=ttyS1 loglevel=4' \
		-serial "file:$dump.part" -serial "file:$work/dumps/$3-$4.log" </dev/null >/dev/null
	tail -n 1 "$dump.part" | grep -q '"end":true' || return 1
	mv "$dump.part" "$dump"
}

# modules TREE RELEASE INITRD: those that bring settings of the network, before
# what needs them.
modules() {
	depmod -b "$1" "$2"
	mkdir -p "$3/modules"
	(cd "$1/lib/modules/$2/kernel" && find net/ipv4 net/ipv6 net/sched net/bridge net/sctp net/mptcp net/rds net/smc \
		net/mpls net/netfilter net/llc net/xfrm net/sunrpc net/core net/unix net/l2tp net/dccp net/tipc net/rxrpc \
		net/vmw_vsock/vsock.ko* drivers/infiniband/core drivers/net/tun.ko* drivers/net/veth.ko* drivers/net/dummy.ko* \
		drivers/net/vrf.ko* fs/lockd fs/nfs fs/xfs fs/quota drivers/md/md-mod.ko* drivers/cdrom drivers/scsi/scsi_mod.ko* -name '*.ko*' 2>/dev/null) |
		sed 's/.*\///; s/\.ko.*//' | sort >"$1/names"
	xargs <"$1/names" -n 1 modprobe -d "$1" -S "$2" --show-depends 2>/dev/null |
		awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$1/order"
	while read -r path; do
		name=${path##*/}
		name=${name%.xz} name=${name%.zst}
		case $path in
		*.xz) xz -dc "$path" ;;
		*.zst) zstd -qdc "$path" ;;
		*) cat "$path" ;;
		esac >"$3/modules/$name"
		echo "$name"
	done <"$1/order" >"$3/modules/list"
}

for line in 5.10 6.1 6.12 newest; do
	case $line in
	newest) image=$(echo "$images" | tail -n 1) ;;
	*) image=$(echo "$images" | grep -E "^linux-image-$line[.-]" | tail -n 1) ;;
	esac
	version=${image#linux-image-}
	if ls "$work/dumps/$version-512M.jsonl" "$work/dumps/$version-4096M.jsonl" >/dev/null 2>&1; then
		continue
	fi
	# Newer packages are a kernel, its modules and a name for both.
	parts=
	for part in "$image" "linux-binary-$version" "linux-modules-$version"; do
		# shellcheck disable=SC2086
		apt-cache $options show "$part" >/dev/null 2>&1 && parts="$parts $part"
	done
	rm -rf "$work/tree" "$work/initrd"
	mkdir -p "$work/tree" "$work/initrd/proc" "$work/initrd/sys" "$work/initrd/dev"
	# shellcheck disable=SC2086
	(cd "$work/debs" && apt-get $options download -qq $parts && for d in *.deb; do dpkg-deb -x "$d" "$work/tree"; rm "$d"; done)
	[ -d "$work/tree/lib" ] || ln -s usr/lib "$work/tree/lib"
	kernel=$(find "$work/tree/" -name 'vmlinuz*' -type f | head -n 1)
	modules "$work/tree" "$version" "$work/initrd"
	cp "$ranges" "$work/initrd/ranges"
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -o "$work/initrd/init" github.com/wirerate/wirerate/tools/kernels/probe
	(cd "$work/initrd" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd.gz"
	for memory in 512M 4096M; do
		echo "boot.sh: $version with $memory"
		boot "$kernel" "$work/initrd.gz" "$version" "$memory"
	done
done
rm -rf "$work/tree" "$work/initrd" "$work/initrd.gz"
