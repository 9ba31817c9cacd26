#!/bin/sh
# Lints the configuration files that differ from the commit BASE and annotates them.
# Without such a commit, and with ALL=true, those are all files.
set -eu
list=$(mktemp)
trap 'rm -f "$list"' EXIT
if [ "${ALL:-}" != true ] && [ -n "${BASE:-}" ]; then
	if git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch -q --depth=1 origin "$BASE" 2>/dev/null; then
		git -c core.quotePath=false diff --name-only --diff-filter=d "$BASE" HEAD >"$list"
	else
		git -c core.quotePath=false ls-files >"$list"
	fi
else
	git -c core.quotePath=false ls-files >"$list"
fi
set --
while IFS= read -r file; do
	case /$file in
	*/sysctl.conf | */sysctl.d/*.conf | */loader.conf | */loader.conf.d/*.conf | */rc.conf | */rc.conf.local | */hostname.[a-z]*[0-9] | */pf.conf | \
		*.link | *.network | */network/interfaces | */modprobe.d/*.conf | */tuned.conf | \
		*/security/limits.conf | */security/limits.d/*.conf) set -- "$@" "$file" ;;
	esac
done <"$list"
if [ $# = 0 ]; then
	echo "wirerate: no configuration file is touched" >&2
	exit 0
fi
# shellcheck disable=SC2086 # ARGS are flags
exec wirerate lint --format github --fail-on "${FAIL_ON:-warning}" ${ARGS:-} -- "$@"
