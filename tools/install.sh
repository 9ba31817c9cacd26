#!/bin/sh
# Installs the programs that the demo, the tests and the benchmarks drive, with
# the machine's package manager when it may, else says what to install.
set -u
# Ansible, DuckDB, pre-commit and clients of language servers and of tools, in a
# folder of their own, for the tests; without them those tests are skipped and say so.
venv=$(dirname "$0")/../.venv
if ! { [ -x "$venv/bin/ansible-playbook" ] && [ -x "$venv/bin/pre-commit" ]; } && command -v python3 >/dev/null 2>&1; then
	{ python3 -m venv "$venv" && "$venv/bin/pip" install -q ansible-core duckdb pygls pre-commit mcp; } >/dev/null 2>&1 ||
		echo "no ansible-core, duckdb, pygls, pre-commit and mcp from PyPI here: the tests that need them are skipped" >&2
fi
PATH="$PATH:/usr/sbin:/sbin"
absent() { # PROGRAM:PACKAGE of Debian...: the packages whose program is not there
	for pair in "$@"; do
		command -v "${pair%%:*}" >/dev/null 2>&1 || printf ' %s' "${pair#*:}"
	done
}
missing=$(absent iperf3:iperf3 ip:iproute2 ping:iputils-ping sshd:openssh-server ssh:openssh-client sysctl:procps)
# What the suite and the bench drive beside the built-in generator: where one is
# missing, the built-in one measures.
driven="wrk:wrk nginx:nginx h2load:nghttp2-client ab:apache2-utils"
# With the word ansible, what make ansible needs beside: too much for every test.
if [ "${1-}" = ansible ]; then
	[ -x "$venv/bin/ansible-lint" ] || "$venv/bin/pip" install -q ansible-lint
fi
# Login shells, ways to root, a packet filter, tcpdump, an editor, an SNMP agent and checkers of
# metrics and scripts, for tests that are skipped without them: no reason to fail.
# shellcheck disable=SC2086
wanted=$(absent tcpdump:tcpdump tcsh:tcsh fish:fish zsh:zsh sudo:sudo doas:opendoas nft:nftables openssl:openssl nvim:neovim \
	snmpd:snmpd promtool:prometheus shellcheck:shellcheck $driven)
[ -z "$missing$wanted" ] && exit 0
if [ "$(id -u)" != 0 ]; then
	[ -z "$wanted" ] || echo "the tests that need these are skipped; install them as root:$wanted" >&2
	[ -n "$missing" ] || exit 0
	echo "missing programs; install them as root:$missing" >&2
	exit 1
fi
if command -v apt-get >/dev/null 2>&1; then
	export DEBIAN_FRONTEND=noninteractive
	# Tests start the daemons that they need; installing starts none (invoke-rc.d(8)).
	policy=/usr/sbin/policy-rc.d
	if ! [ -e "$policy" ]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
		trap 'rm -f "$policy"' EXIT
	fi
	add() { apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; }
	# shellcheck disable=SC2086
	add $missing $wanted || { apt-get update -qq; add $missing $wanted; } || add $missing ||
		{ echo "apt-get cannot install:$missing" >&2; exit 1; }
elif command -v dnf >/dev/null 2>&1; then
	dnf install -y -q --skip-unavailable tcpdump tcsh fish zsh sudo nftables openssl neovim wrk nginx nghttp2 httpd-tools \
		net-snmp ShellCheck >/dev/null 2>&1
	[ -z "$missing" ] || dnf install -y -q iperf3 iproute iputils openssh-server openssh-clients procps-ng
elif command -v apk >/dev/null 2>&1; then
	apk add --quiet tcpdump tcsh fish zsh sudo doas nftables openssl neovim wrk nginx nghttp2 apache2-utils \
		net-snmp prometheus shellcheck >/dev/null 2>&1
	[ -z "$missing" ] || apk add --quiet iperf3 iproute2 iputils openssh procps
elif [ -z "$missing" ]; then
	echo "the tests that need these are skipped:$wanted" >&2
else
	echo "missing programs; install them with your package manager:$missing" >&2
	exit 1
fi
