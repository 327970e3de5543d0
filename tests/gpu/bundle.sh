#!/bin/sh
# Packs what measure.sh, check.sh and bench.sh need to run on another Linux machine with an NVIDIA
# driver but without a compiler: tools, libraries, GPU tests, golden files, a small corpus, and the
# shared libraries of this machine. cuBLASLt is not packed (542 MB).
#
#   sh tests/gpu/bundle.sh BUILD [ARCHIVE [cuda]]      default: tx-gpu.tar.xz
#
# AB=FILE is a second libtx-cuda.so for measure.sh, packed as build/libtx-cuda-b.so; WHEELS="FILE
# ..." are Python wheels for its peers. With "cuda", packs only what changes with the kernels (their
# library, the tests and benchmarks linked with it, these scripts), to be unpacked over a complete
# bundle. The other machine needs a C library at least as new as this one's.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?"usage: bundle.sh BUILD [ARCHIVE]"}" && pwd)
archive=${2:-tx-gpu.tar.xz}
part=${3:-all}
most=67108864 # 64 MiB
if "$build/bin/tx-train" --version | grep -q '^CUDA: built without'; then
  echo "skipped: $build is built without CUDA (cmake -DTX_CUDA=ON)" >&2
  exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/tx-bundle.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
to=$work/tx-gpu
mkdir -p "$to/build/bin" "$to/build/lib/bundled" "$to/build/tests" "$to/tests/golden" "$to/corpus"

for file in "$build"/bin/* "$build"/tests/gpu-* "$build/tests/make_model" \
  "$build/tests/time_lines" "$build/tests/cuda_bench" "$build/tests/decode_bench" \
  "$build/tests/libfault.so"; do
  [ -f "$file" ] && [ -x "$file" ] || continue
  place=${file#"$build/"}
  cp "$file" "$to/build/${place%/*}/"
done
if command -v nvcc > /dev/null 2>&1; then
  for name in wgmma_bits weight_gradients; do
    sh "$root/tests/gpu/compile.sh" nvcc $name "$to/build/tests"
  done
fi
cp -P "$build"/lib/libtx.so* "$build"/lib/libtx-*.so "$to/build/lib/"
[ -z "${AB-}" ] || cp "$AB" "$to/build/libtx-cuda-b.so"
[ -z "${WHEELS-}" ] || {
  mkdir "$to/wheels"
  # shellcheck disable=SC2086  # words
  cp $WHEELS "$to/wheels/"
}
if command -v strip > /dev/null 2>&1; then
  find "$to/build" -type f -exec strip --strip-unneeded {} +
fi

# All shared libraries they need, except the C library's and the driver's.
find "$to/build" -type f -exec env LD_LIBRARY_PATH="$build/lib" ldd {} + > "$work/needed"
if grep 'not found' "$work/needed" >&2; then exit 1; fi
awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' "$work/needed" | sort -u > "$work/libraries"
while read -r name path; do
  case $name in
    libc.so* | libm.so* | libdl.so* | librt.so* | libpthread.so* | ld-linux* | libresolv.so* | \
      libutil.so* | libcuda.so* | libnvidia* | libtx*.so*) ;;
    *) cp "$path" "$to/build/lib/bundled/$name" ;;
  esac
done < "$work/libraries"

cp -r "$root/tests/gpu" "$to/tests/"
for file in "$root"/tests/golden/*; do
  case $file in
    *.cpp | *.h | *.py) ;;
    *) [ ! -f "$file" ] || cp "$file" "$to/tests/golden/" ;;
  esac
done
# The scripts labelled gpu, and their files.
mkdir -p "$to/tests/cli" "$to/tests/bench/peers" "$to/examples/paper"
cp "$root"/tests/bench/decode_*.sh "$root/tests/bench/peak.sh" "$to/tests/bench/"
cp "$root"/tests/bench/peers/ct2_*.py "$root"/tests/bench/peers/torch_train.py \
  "$root/tests/bench/peers/torch_packed.py" "$to/tests/bench/peers/"
cp -r "$root"/tests/cli/*.sh "$root/tests/cli/cuda" "$to/tests/cli/"
cp "$root"/examples/number_words.* "$root/examples/reverse.sh" "$root/examples/train.sh" "$to/examples/"
cp "$root/examples/paper/base_gpu.sh" "$to/examples/paper/"
cp "$root/Makefile" "$root/LICENSE" "$to/"
sh "$root/examples/number_words.sh" 3000 100 200 "$to/corpus"
cat > "$to/env.sh" <<'END'
# To put the tools in PATH:  . ./env.sh   (in this directory)
PATH=$PWD/build/bin:$PATH
LD_LIBRARY_PATH=$PWD/build/lib:$PWD/build/lib/bundled${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PATH LD_LIBRARY_PATH
END
cat > "$to/README" <<'END'
tx with its tests for a GPU; needs Linux on x86-64 and an NVIDIA driver, no compiler.

    sh tests/gpu/measure.sh    what is worth most, should there be few minutes: gpu-measure/
    sh tests/gpu/check.sh      all tests on the GPU (make check-gpu): gpu-check.txt
    sh tests/gpu/bench.sh      how fast it is      (make bench-gpu): gpu-bench.txt

Each ends within ten minutes. cuBLASLt is taken from the machine: TX_CUBLASLT=/path/to/libcublasLt.so.13
names it where it is not found.
END
packed=tx-gpu
if [ "$part" = cuda ]; then
  packed="tx-gpu/build/lib/libtx-cuda.so tx-gpu/build/tests/gpu-kernels tx-gpu/tests/gpu"
  [ ! -f "$to/build/tests/cuda_bench" ] || packed="$packed tx-gpu/build/tests/cuda_bench"
fi
# shellcheck disable=SC2086  # words
tar -C "$work" -cf - $packed | xz -9 > "$work/archive"
size=$(wc -c < "$work/archive")
if [ "$size" -gt $most ]; then
  echo "bundle.sh: $size bytes, which is more than $most:" >&2
  du -a "$to" | sort -rn | head -n 20 >&2
  exit 1
fi
mv "$work/archive" "$archive"
echo "$archive: $((size / 100000 / 10)).$((size / 100000 % 10)) MB, $(xz -dc "$archive" | tar -t | grep -vc '/$') files"
