package conffile

import "testing"

func TestLimits(t *testing.T) {
	const in = "# domain type item value\n*  soft nofile 4096\n@audio\t-\trtprio 95 # realtime\nRoot HARD NPROC Unlimited\n\nuser -\nnginx soft nofile\n*hard nofile 5\n"
	const want = `2:1 limits:soft/nofile=4096
3:1 limits:hard/rtprio=95
4:1 limits:hard/nproc=unlimited
refused 7:1 "nginx soft nofile"
refused 8:1 "*hard"
`
	if got := show(t, Limits, Linux, "/etc/security/limits.conf", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func FuzzLimits(f *testing.F) {
	fuzzKind(f, Limits, Linux, "/etc/security/limits.conf", "* soft nofile 4096\n@a - b c # d\nx -\ny\r\n")
}

func TestYAML(t *testing.T) {
	const in = `---
# net.core.comment: 1
- name: Set buffers
  ansible.posix.sysctl:
    name: net.core.rmem_max
    value: "16777216"
    state: present
- sysctl: name=net.ipv4.tcp_rmem value="4096 131072 6291456" state=present
- sysctl:
    name: "{{ item.key }}"
    value: "{{ item.value }}"
  loop:
    - { key: 'net.core.wmem_max', value: '1' }
    - {name: vm.swappiness, value: 10}
    - "net.core.somaxconn=8000"
    - { name: nginx, value: 5 }
vars:
  sysctl_config:
    net.ipv4.ip_forward: 1 # a router
    net.ipv6.conf.eth0.accept_ra: '2'
    fs.file-max: ""
net.core.optmem_max:
  sysctl.present:
    - value: 65536
image: net.example.com/a:b
`
	const want = `5:11 net.core.rmem_max=16777216
8:16 net.ipv4.tcp_rmem=4096 131072 6291456
13:15 net.core.wmem_max=1
14:14 vm.swappiness=10
15:8 net.core.somaxconn=8000
19:5 net.ipv4.ip_forward=1
20:5 net.ipv6.conf.eth0.accept_ra=2 [eth0]
22:1 net.core.optmem_max=65536
`
	if got := show(t, YAML, Linux, "tasks/main.yml", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func FuzzYAML(f *testing.F) {
	fuzzKind(f, YAML, Linux, "a.yml", "- { name: net.core.x, value: '1' }\nnet.core.y: 2\n- \"net.core.z=3\"\n",
		"sysctl: name=net.core.x value=\"1 2\"\nvalue: 1\nname: vm.x\n{a: b:c=d,")
}

// TestWritten reads what scripts write into configuration files, and settings that they
// hold in lists.
func TestWritten(t *testing.T) {
	const in = `F=/etc/sysctl.d/9-a.conf
LIMITS="/etc/security/limits.conf"
cat > "$F" <<'E'
net.core.a = 1
E
echo "# several
net.core.b = 2
net.core.c = $X
" > /etc/sysctl.conf
echo 'net.core.d=3' | sudo tee -a ${F} >/dev/null
echo "1 2 3" | sudo tee /proc/sys/net/ipv4/tcp_rmem
printf 'net.core.e=4\nnet.core.f=5\n' >> "$F"
echo "* soft nofile 65536" >> $LIMITS
list=(
	"net.core.g=6"
	["net.core.h"]="7"
	net.core.i=8 other=9
)
for i in "${list[@]}"; do sysctl -w $i; done
set_sysctl net.core.j "9 9"
check_sysctl net.core.k 1
sysctl -w net.core.l = 5
F=$(mktemp)
echo "net.core.m=1" > $F
echo hello | grep net.core.n=1
sudo tee /etc/sysctl.d/8-b.conf >/dev/null <<'E'
net.core.o=1
E
cat <<'E' | sudo tee -a /etc/sysctl.d/8-b.conf > /dev/null
net.core.p=1
E
declare -r CONF="/etc/sysctl.conf"
write() {
	local own=/etc/sysctl.d/7-c.conf
	tee "$own" <<E
net.core.q=1
E
	echo "net.core.r=1" >> "$CONF"
	if true; then
		own=/tmp/other
	fi
	echo "net.core.s=1" > $own
}
net.core.t = 1
net.core.u=2
{
  echo net.core.v=1
  cat <<E
net.core.w=1
E
  python3 - <<E
net.core.x=1
E
} | sudo tee -a "$CONF" >/dev/null
(
  echo net.core.y=1
) > /tmp/b
`
	const want = `4:1 net.core.a=1
7:1 net.core.b=2
10:7 net.core.d=3
11:25 net.ipv4.tcp_rmem=1 2 3
12:9 net.core.e=4
12:23 net.core.f=5
13:7 limits:soft/nofile=65536
15:2 net.core.g=6
16:2 net.core.h=7
17:2 net.core.i=8
20:12 net.core.j=9 9
27:1 net.core.o=1
30:1 net.core.p=1
36:1 net.core.q=1 [maybe]
38:8 net.core.r=1 [maybe]
44:1 net.core.t=1
45:1 net.core.u=2
47:8 net.core.v=1 [maybe]
49:1 net.core.w=1 [maybe]
refused 22:11 "net.core.l = 5"
refused 44:1 "net.core.t"
`
	if got := show(t, Script, Linux, "tune.sh", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWrittenFiles(t *testing.T) {
	const in = `cat > /tmp/60-a.conf <<'E'
net.core.a = 1
E
sudo cp /tmp/60-a.conf /etc/sysctl.d/
sudo bash -c 'cat >> /etc/sysctl.conf <<E
net.core.b=2
E'
sed -i '/End of file/i * hard nofile 65535' /etc/security/limits.conf
sed -i '$a net.core.c = 3' /etc/sysctl.conf
sed -i 's/^net.core.d.*/net.core.d = 4/' /etc/sysctl.conf
echo "auto bond0
iface bond0 inet manual
  bond-mode 802.3ad
" > /etc/network/interfaces
cat > /etc/systemd/network/10-a.link <<E
[Match]
Name=eth0
[Link]
RxBufferSize=4096
E
sysctl-write-value net.core.e 5
ip link set bond0 type bond miimon 100 mode balance-rr
ip link set v0 type macvlan mode bridge
cat > /tmp/b.conf <<E
net.core.never = 1
E
`
	const want = `2:1 net.core.a=1
6:1 net.core.b=2
8:24 limits:hard/nofile=65535
9:12 net.core.c=3
10:25 net.core.d=4 [maybe]
12:1 interfaces:inet=manual [bond0]
13:3 interfaces:bond-mode=802.3ad [bond0]
17:1 link-file:Match/Name=eth0 [eth0]
19:1 link-file:RxBufferSize=4096 [eth0]
21:20 net.core.e=5
22:29 link:bond-miimon=100 [bond0]
22:40 link:bond-mode=balance-rr [bond0]
`
	if got := show(t, Script, Linux, "tune.sh", in); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
