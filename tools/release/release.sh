#!/bin/sh
# Makes what a release consists of, from a clean tree, in OUT: an archive for each
# platform, packages of Linux, a bill of materials and checksums. The same commit
# gives the same bytes, in whatever folder it is built.
#   sh tools/release/release.sh OUT [OS/ARCH...]
set -eu
cd "$(dirname "$0")/../.."
nfpm=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.44.0
out=${1:?a folder is expected}
shift
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 freebsd/amd64 freebsd/arm64 openbsd/amd64 openbsd/arm64
GO=${GO:-go}
export LC_ALL=C TZ=UTC CGO_ENABLED=0
VERSION=${VERSION:-$(git describe --tags --always --dirty)}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export VERSION SOURCE_DATE_EPOCH
umask 022
tar --version 2>/dev/null | grep -q GNU || { echo "release: GNU tar is needed" >&2; exit 3; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
[ -z "$(ls "$out")" ] || { echo "release: $out is not empty" >&2; exit 2; }
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
ldflags="-s -w -X github.com/wirerate/wirerate/internal/cli.Version=$VERSION"

build() { # OS ARCH FILE
	GOOS=$1 GOARCH=$2 "$GO" build -trimpath -buildvcs=false -ldflags "$ldflags" -o "$3" ./cmd/wirerate
}

archive() { # NAME FILE: a folder of the stage
	tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$1" | gzip -n9 >"$2"
}

# What is the same on every platform.
common=$stage/common
mkdir -p "$common/completions" "$common/man"
cp LICENSE README.md CHANGELOG.md "$common"
gzip -dc internal/cli/licenses.txt.gz >"$common/LICENSES"
{
	cat LICENSE
	printf '\nThe notices of the modules that the program contains are in LICENSES.gz beside this\nfile; wirerate version --licenses prints them.\n'
} >"$stage/copyright"
"$GO" run -ldflags "$ldflags" ./tools/gendocs -man -o "$common/man"
build "$("$GO" env GOHOSTOS)" "$("$GO" env GOHOSTARCH)" "$stage/host"
"$stage/host" completion bash >"$common/completions/wirerate.bash"
"$stage/host" completion zsh >"$common/completions/_wirerate"
"$stage/host" completion fish >"$common/completions/wirerate.fish"

# Packages are of the last tag: not every form of them has versions between tags.
case $VERSION in
v[0-9]*) PACKAGE_VERSION=${VERSION#v} PACKAGE_VERSION=${PACKAGE_VERSION%%-*} ;;
*) PACKAGE_VERSION=0.0.0 ;;
esac
MAINTAINER=${MAINTAINER:-"wirerate <wirerate@users.noreply.github.com>"}
export PACKAGE_VERSION MAINTAINER

# form FORM FOLDER: nfpm.yaml of what is in a folder, without the lines that are
# marked for other forms.
form() {
	awk -v form="$1" -v stage="$2" '
		{ gsub(/[$][{]STAGE[}]/, stage) }
		!match($0, / # [a-z ]+$/) || /^#/ { print; next }
		index(substr($0, RSTART) " ", " " form " ") { print substr($0, 1, RSTART - 1) }' contrib/packages/nfpm.yaml
	doc=''
	[ "$1" != rpm ] || doc=', type: doc'
	for f in "$2"/man/*.1.gz docs/*.md; do
		case $f in *.gz) to=man/man1 ;; *) to=doc/wirerate/docs ;; esac
		echo "  - { src: $f, dst: /usr/share/$to/${f##*/}, file_info: { mode: 0644 }$doc }"
	done
}

packages() { # ARCH
	pack=$stage/package-$1
	cp -R "$common" "$pack"
	cp "$stage/copyright" "$pack"
	gzip -n9c "$common/LICENSES" >"$pack/LICENSES.gz"
	printf -- '- semver: %s-1\n  date: %s\n  packager: %s\n  deb: { urgency: medium, distributions: [stable] }\n  changes:\n    - note: "release %s; CHANGELOG.md says what is in it"\n' \
		"$PACKAGE_VERSION" "$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)" "$MAINTAINER" "$PACKAGE_VERSION" >"$pack/changelog.yaml"
	cp "$stage/linux-$1/wirerate" "$pack"
	gzip -n9 "$pack"/man/*.1
	for form in deb rpm apk archlinux; do
		form "$form" "$pack" >"$pack/nfpm.yaml"
		ARCH=$1 "$GO" run $nfpm package -f "$pack/nfpm.yaml" -p $form -t "$out" >"$stage/nfpm" || { cat "$stage/nfpm" >&2; exit 4; }
	done
}

for platform; do
	os=${platform%/*} arch=${platform#*/}
	name=wirerate-$VERSION-$os-$arch
	echo "$name"
	mkdir "$stage/$os-$arch"
	build "$os" "$arch" "$stage/$os-$arch/wirerate"
	cp -R "$common" "$stage/$name"
	cp "$stage/$os-$arch/wirerate" "$stage/$name"
	archive "$name" "$out/$name.tar.gz"
	[ "$os" != linux ] || packages "$arch"
done
# What FreeBSD's and OpenBSD's ports and Homebrew build from: the sources with the
# modules, manual pages and completions, and the ports with its checksum filled in.
source=wirerate-$VERSION-src
echo "$source"
mkdir "$stage/$source"
if [ -e .git ]; then git ls-files; else find . -type f; fi | tar -cf - -T - | tar -C "$stage/$source" -xf -
cp -R "$common/." "$stage/$source"
(cd "$stage/$source" && "$GO" mod vendor)
archive "$source" "$out/$source.tar.gz"
fill() { # FILE...
	sed -i "s|@TAG@|$VERSION|g; s|@VERSION@|$PACKAGE_VERSION|g; s|@MAINTAINER@|$MAINTAINER|g; s|@SHA256@|$sum|g" "$@"
}
sum=$(sha256sum "$out/$source.tar.gz" | cut -d' ' -f1)
size=$(wc -c <"$out/$source.tar.gz" | tr -d ' ')
ports=wirerate-$VERSION-ports
mkdir "$stage/$ports"
cp -R contrib/packages/freebsd contrib/packages/openbsd contrib/packages/homebrew "$stage/$ports"
freebsd=$stage/$ports/freebsd/net-mgmt/wirerate openbsd=$stage/$ports/openbsd/net/wirerate
# The scripts of the service, with the ports' prefix.
mkdir "$freebsd/files"
sed 's|/usr/local/bin|%%PREFIX%%/bin|g' contrib/service/freebsd/wirerate_watch >"$freebsd/files/wirerate_watch.in"
# shellcheck disable=SC2016 # the ports' make expands it
sed 's|/usr/local/bin|${TRUEPREFIX}/bin|g' contrib/service/openbsd/wirerate_watch >"$openbsd/pkg/wirerate_watch.rc"
fill "$freebsd/Makefile" "$openbsd/Makefile" "$stage/$ports/homebrew/wirerate.rb"
printf 'TIMESTAMP = %s\nSHA256 (%s) = %s\nSIZE (%s) = %s\n' "$SOURCE_DATE_EPOCH" "$source.tar.gz" "$sum" "$source.tar.gz" "$size" >"$freebsd/distinfo"
printf 'SHA256 (%s) = %s\nSIZE (%s) = %s\n' "$source.tar.gz" "$(openssl dgst -sha256 -binary "$out/$source.tar.gz" | base64)" "$source.tar.gz" "$size" >"$openbsd/distinfo"
shared() { printf '%s\n' share/bash-completion/completions/wirerate share/fish/vendor_completions.d/wirerate.fish share/zsh/site-functions/_wirerate; }
{
	echo bin/wirerate
	(cd "$common" && ls man/*.1) | sed 's|.*|share/&.gz|; s|share/man/|share/man/man1/|'
	shared
} >"$freebsd/pkg-plist"
{
	# shellcheck disable=SC2016 # the ports' make expands it
	printf '@rcscript ${RCDIR}/wirerate_watch\n@bin bin/wirerate\n'
	(cd "$common" && ls man/*.1) | sed 's|man/|@man man/man1/|'
	shared
	for f in CHANGELOG.md LICENSE LICENSES README.md; do echo "share/doc/wirerate/$f"; done
} >"$openbsd/pkg/PLIST"
archive "$ports" "$out/$ports.tar.gz"

"$GO" run ./tools/sbom "$stage/host" "$VERSION" >"$out/wirerate-$VERSION.cdx.json"
cd "$out"
sha256sum -- * >"$stage/SHA256SUMS"
mv "$stage/SHA256SUMS" .
