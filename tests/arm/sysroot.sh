#!/bin/sh
# sysroot.sh DIR: unpacks the ARM64 libraries that tx needs into DIR, from the package archive of
# this Debian or Ubuntu. Installs nothing and needs no root.
set -eu
dir=${1:?"usage: sysroot.sh DIR"}
[ ! -e "$dir/complete" ] || exit 0
mkdir -p "$dir/apt/lists/partial" "$dir/apt/archives/partial"
dir=$(cd "$dir" && pwd)
: > "$dir/apt/status"
arm_apt() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
    -o Dir::State::status="$dir/apt/status" -o Dir::State::lists="$dir/apt/lists" \
    -o Dir::Cache::archives="$dir/apt/archives" -o Dir::Cache::pkgcache= \
    -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User= "$@"
}
arm_apt update
arm_apt install -y --download-only --no-install-recommends libc6-dev libgomp1 libopenblas-dev \
  libsentencepiece-dev nlohmann-json3-dev libcli11-dev libboost-test-dev libxxhash-dev \
  libpcre2-dev libutf8proc-dev zlib1g-dev > "$dir/apt/log"
for package in "$dir"/apt/archives/*.deb; do dpkg -x "$package" "$dir"; done

# What the packages' scripts would have done: the alternatives of OpenBLAS, links within DIR.
libraries=$dir/usr/lib/aarch64-linux-gnu
ln -sf openblas-pthread/libopenblas.so openblas-pthread/libopenblas.so.0 "$libraries"
ln -sf ../openblas-pthread/pkgconfig/openblas.pc "$libraries/pkgconfig"
find "$dir" -type l | while read -r link; do
  case $(readlink "$link") in
    /*) ln -sfr "$dir$(readlink "$link")" "$link" ;;
  esac
done
rm -rf "$dir/apt"
: > "$dir/complete"
