# Makes a world for the examples of one page: network, hosts behind ssh, folders,
# users and programs of its own, in namespaces that end with this shell.
# HOSTS names the hosts, SOURCE the repository.
set -e
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs tmpfs /root
for folder in etc var srv; do
	mkdir -p /run/layers/$folder/up /run/layers/$folder/work
	mount -t overlay -o lowerdir=/$folder,upperdir=/run/layers/$folder/up,workdir=/run/layers/$folder/work overlay /$folder
done
# The settings that all namespaces share are files here.
for folder in vm fs kernel; do
	cp -r /proc/sys/$folder /run/sys-$folder 2>/dev/null || :
	mount --bind /run/sys-$folder /proc/sys/$folder
done
mkdir -p /run/sshd /run/netns /run/hosts /run/bin /srv/configuration /srv/test /var/log/nginx /var/lib/wirerate /etc/sysctl.d /etc/wirerate
mkdir -p /root/.config/fish/completions /etc/tuned/network-throughput
rm -rf /var/lib/wirerate/*
export HOME=/root PATH=/run/bin:$PATH XDG_RUNTIME_DIR=/run
unset XDG_STATE_HOME XDG_CONFIG_HOME WIRERATE_HISTORY

ip link set lo up
if [ -n "$HOSTS" ]; then
	ssh-keygen -q -t ed25519 -N '' -f /run/key
	echo "world $(cat /run/key.pub)" >/run/known
	cat >/etc/ssh/ssh_config.d/world.conf <<-END
		Host *
		 HostKeyAlias world
		 IdentityFile /run/key
		 UserKnownHostsFile /run/known
		 ProxyCommand sh /run/enter %h
	END
	cat >/run/sshd_config <<-END
		HostKey /run/key
		AuthorizedKeysFile /run/key.pub
		StrictModes no
		UsePAM no
		PermitRootLogin yes
	END
	cat >/run/enter <<-'END'
		mkdir -p /run/hosts/$1
		exec ip netns exec $1 sh -c "mount --bind /run/hosts/$1 /var/lib/wirerate && exec /usr/sbin/sshd -i -f /run/sshd_config"
	END
	printf '%s\n' admin:x:65001:65001::/tmp:/bin/sh user:x:65002:65002::/tmp:/bin/sh >>/etc/passwd
	printf '%s\n' 'admin:*:19000::::::' 'user:*:19000::::::' >>/etc/shadow
	echo 'user ALL=(root) NOPASSWD: ALL' >/etc/sudoers
	echo 'permit nopass admin as root' >/etc/doas.conf
	chmod 440 /etc/sudoers /etc/doas.conf

	ip link add br0 type bridge
	ip addr add 192.0.2.1/24 dev br0
	ip addr add 192.0.2.2/24 dev br0
	ip link set br0 up
	n=10
	for host in $HOSTS; do
		n=$((n + 1))
		ip netns add $host
		ip link add to$n type veth peer name eth0 netns $host
		ip link set to$n master br0 up
		tc qdisc add dev to$n root tbf rate 50mbit burst 64k latency 50ms 2>/dev/null || : # less work
		ip -n $host link set lo up
		ip -n $host link set eth0 up
		ip -n $host addr add 192.0.2.$n/24 dev eth0
		echo "192.0.2.$n $host" >>/etc/hosts
		eval "address_$host=192.0.2.$n"
	done
	case " $HOSTS " in *' fw'*) # between a and b
		for fw in fw fw1; do
			eval "via=\${address_$fw-}"
			[ -n "$via" ] && [ -n "$address_a" ] || continue
			ip netns exec $fw sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.eth0.send_redirects=0
			ip -n a route add $address_b/32 via $via
			ip -n b route add $address_a/32 via $via
		done ;;
	esac
fi

program() { # program NAME COMMAND
	printf '#!/bin/sh\n%s\n' "$2" >/run/bin/$1
	chmod 755 /run/bin/$1
}
program mail 'cat >>mail'
program ansible-inventory 'cat inventory.json'
{
	printf '{"_meta": {"hostvars": {"h0": {"rack": 0, "hardware": "v1", "role": "web"}'
	for i in $(seq 39); do printf ', "h%d": {"rack": %d, "hardware": "v%d", "role": "web"}' $i $((i % 4)) $((i / 20)); done
	printf '}}, "web": {"hosts": ["h0"'
	for i in $(seq 39); do printf ', "h%d"' $i; done
	printf ']}}\n'
} >inventory.json
cp inventory.json hosts.json
printf '127.0.0.1 prom prometheus\n192.0.2.2 sw1.example\n' >>/etc/hosts
cp sysctl.conf /etc/sysctl.conf
echo 'net.ipv4.tcp_tw_reuse = 1' >/etc/sysctl.d/99-old.conf
printf '[sysctl]\nnet.ipv4.tcp_slow_start_after_idle=0\n' >/etc/tuned/network-throughput/tuned.conf
printf 'user: monitor\nauth: sha256\nauth_passphrase: LONG-AND-SECRET\n' >/etc/wirerate/snmp
chmod 600 /etc/wirerate/snmp
cp access.log /var/log/nginx/access.log
case " $HOSTS " in *' web1 '*) # a server that somebody always asks
	(cd /srv/configuration && exec ip netns exec web1 python3 -m http.server 443 >/dev/null 2>&1) &
	while sleep 0.3; do curl -s -o /dev/null http://$address_web1:443/ || :; done & ;;
esac
for end in cli srv; do
	gzip -dc "$SOURCE/internal/packets/testdata/sndbuf_r100_200_7_bbr.$end.pcapng.gz" >$end.pcap
done
cp cli.pcap here.pcap
cp srv.pcap there.pcap
for name in slow.pcap slow.pcapng trace.pcapng; do cp cli.pcap $name; done
