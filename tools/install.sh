#!/bin/sh
# Installs the programs that the demo, the tests and the benchmarks drive, with
# the machine's package manager when it may, else says what to install.
set -u
# Ansible, DuckDB and a client of language servers, in a folder of their own, for
# the tests; without them those tests are skipped and say so.
venv=$(dirname "$0")/../.venv
if ! [ -x "$venv/bin/ansible-playbook" ] && command -v python3 >/dev/null 2>&1; then
	{ python3 -m venv "$venv" && "$venv/bin/pip" install -q ansible-core duckdb pygls; } >/dev/null 2>&1 ||
		echo "no ansible-core, duckdb and pygls from PyPI here: the tests that need them are skipped" >&2
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
# Login shells, ways to root, a packet filter and an editor, for tests that are skipped
# without them: small packages, no reason to fail.
# shellcheck disable=SC2086
wanted=$(absent tcsh:tcsh fish:fish sudo:sudo doas:opendoas nft:nftables openssl:openssl nvim:neovim $driven)
[ -z "$missing$wanted" ] && exit 0
if [ "$(id -u)" != 0 ]; then
	[ -z "$wanted" ] || echo "the tests that need these are skipped; install them as root:$wanted" >&2
	[ -n "$missing" ] || exit 0
	echo "missing programs; install them as root:$missing" >&2
	exit 1
fi
if command -v apt-get >/dev/null 2>&1; then
	export DEBIAN_FRONTEND=noninteractive
	add() { apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1; }
	# shellcheck disable=SC2086
	add $missing $wanted || { apt-get update -qq; add $missing $wanted; } || add $missing ||
		{ echo "apt-get cannot install:$missing" >&2; exit 1; }
elif command -v dnf >/dev/null 2>&1; then
	dnf install -y -q --skip-unavailable tcsh fish sudo nftables openssl neovim wrk nginx nghttp2 httpd-tools >/dev/null 2>&1
	[ -z "$missing" ] || dnf install -y -q iperf3 iproute iputils openssh-server openssh-clients procps-ng
elif command -v apk >/dev/null 2>&1; then
	apk add --quiet tcsh fish sudo doas nftables openssl neovim wrk nginx nghttp2 apache2-utils >/dev/null 2>&1
	[ -z "$missing" ] || apk add --quiet iperf3 iproute2 iputils openssh procps
elif [ -z "$missing" ]; then
	echo "the tests that need these are skipped:$wanted" >&2
else
	echo "missing programs; install them with your package manager:$missing" >&2
	exit 1
fi
