#!/bin/sh
# Installs the programs that the demo, the tests and the benchmarks drive, with
# the machine's package manager when it may, else says what to install.
set -u
# Ansible and DuckDB, in a folder of their own, for the tests of weblog; without
# them those tests are skipped and say so.
venv=$(dirname "$0")/../out/venv
if ! [ -x "$venv/bin/ansible-playbook" ] && command -v python3 >/dev/null 2>&1; then
	{ python3 -m venv "$venv" && "$venv/bin/pip" install -q ansible-core duckdb; } >/dev/null 2>&1 ||
		echo "no ansible-core and duckdb from PyPI here: the tests that need them are skipped" >&2
fi
missing=
for pair in iperf3:iperf3 ip:iproute2 ping:iputils-ping sshd:openssh-server ssh:openssh-client sysctl:procps; do
	program=${pair%%:*}
	PATH="$PATH:/usr/sbin:/sbin" command -v "$program" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ]; then
	echo "missing programs; install them as root:$missing" >&2
	exit 1
fi
if command -v apt-get >/dev/null 2>&1; then
	export DEBIAN_FRONTEND=noninteractive
	# shellcheck disable=SC2086
	apt-get install -y -qq $missing >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq $missing >/dev/null; }
elif command -v dnf >/dev/null 2>&1; then
	dnf install -y -q iperf3 iproute iputils openssh-server openssh-clients procps-ng
elif command -v apk >/dev/null 2>&1; then
	apk add --quiet iperf3 iproute2 iputils openssh procps
else
	echo "missing programs; install them with your package manager:$missing" >&2
	exit 1
fi
