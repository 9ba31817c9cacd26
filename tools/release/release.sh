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

# What is the same on every platform.
common=$stage/common
mkdir -p "$common/completions" "$common/man"
cp LICENSE README.md CHANGELOG.md "$common"
gzip -dc internal/cli/licenses.txt.gz >"$common/LICENSES"
cat LICENSE "$common/LICENSES" >"$stage/copyright"
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

packages() { # ARCH
	pack=$stage/package-$1
	cp -R "$common" "$pack"
	cp "$stage/copyright" "$pack"
	cp "$stage/linux-$1/wirerate" "$pack"
	gzip -n9 "$pack"/man/*.1
	for form in deb rpm apk archlinux; do
		ARCH=$1 STAGE=$pack "$GO" run $nfpm package -f contrib/packages/nfpm.yaml -p $form -t "$out" >"$stage/nfpm" || { cat "$stage/nfpm" >&2; exit 4; }
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
	tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" |
		gzip -n9 >"$out/$name.tar.gz"
	[ "$os" != linux ] || packages "$arch"
done
"$GO" run ./tools/sbom "$stage/host" "$VERSION" >"$out/wirerate-$VERSION.cdx.json"
cd "$out"
sha256sum -- * >"$stage/SHA256SUMS"
mv "$stage/SHA256SUMS" .
