#!/bin/sh
# check.sh BUILD [arguments of ctest]: builds for ARM64 in BUILD and runs the tests there, emulated
# by qemu-user. Needs g++-aarch64-linux-gnu and qemu-user-static; the libraries are downloaded.
# TARGETS: what to build beside the tools, by default all tests.
set -eu
build=${1:?"usage: check.sh BUILD [ctest arguments]"}
shift
here=$(cd "$(dirname "$0")" && pwd)
for program in aarch64-linux-gnu-g++ qemu-aarch64-static; do
  command -v $program > /dev/null || {
    echo "check-arm: no $program here; install g++-aarch64-linux-gnu and qemu-user-static" >&2
    exit 1
  }
done
mkdir -p "$build"
build=$(cd "$build" && pwd)
sysroot=$build/sysroot
sh "$here/sysroot.sh" "$sysroot"
# shellcheck disable=SC2086  # a list of words
cmake -S "$here/../.." -B "$build" -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" \
  -DTX_SYSROOT="$sysroot" -DTX_CUDA=OFF -DTX_MPI=OFF ${CMAKE_ARGS:-}
jobs=$(nproc 2> /dev/null || echo 2)
cmake --build "$build" -j "$jobs"
cmake --build "$build" -j "$jobs" --target ${TARGETS:-tests}

# Scripts call the tools by name: build/emulated is a build directory whose programs start qemu.
mkdir -p "$build/emulated/bin" "$build/emulated/tests"
ln -sfn ../lib "$build/emulated/lib"
ln -sfn ../man "$build/emulated/man"
for program in "$build"/bin/* "$build"/tests/*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  case $program in *.so) continue ;; esac
  wrapper=$build/emulated/${program#"$build"/}
  printf '#!/bin/sh\nexec qemu-aarch64-static -L %s %s "$@"\n' "$sysroot" "$program" > "$wrapper"
  chmod +x "$wrapper"
done
sh "$here/../check.sh" "$build" "$@"
