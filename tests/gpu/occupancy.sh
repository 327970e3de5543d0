#!/bin/sh
# Occupancy of the CUDA kernels: blocks per multiprocessor of sm_80, 90, 100 and 120, from the
# registers and shared memory that ptxas assigned and the block size of the launch, for heads of 32,
# 64 and 128 columns, d of 128 to 4,096, and vocabularies up to 256,000. WARPS is out of the 64 of a
# multiprocessor (sm_120: 48), BY is the limiting resource. Needs no GPU, but cuobjdump of a CUDA
# toolkit and a build by nvcc:
#
#   sh tests/gpu/occupancy.sh [BUILD]      or a library, or a directory of object files
#
# Status 1: a kernel has more than 24 bytes of stack, which means spilled registers
# (STACK_LIMIT=24), or no block of it fits. 77: nothing to check.
set -eu
build=${1:-build}
sources=$(cd "$(dirname "$0")/../../kernels/cuda" && pwd)
command -v cuobjdump > /dev/null 2>&1 || PATH=$PATH:/usr/local/cuda/bin
command -v cuobjdump > /dev/null 2>&1 || { echo "skipped: no cuobjdump here" >&2 && exit 77; }
if [ -d "$build" ]; then
  files=$(find "$build" -name '*.cu.o' | LC_ALL=C sort)
else
  files=$build
fi
[ -n "$files" ] || { echo "skipped: no objects of nvcc in $build" >&2 && exit 77; }
demangle="cat"
! command -v c++filt > /dev/null 2>&1 || demangle=c++filt
# The tiles of products, as gemm.h lists them: ROWSxCOLUMNS, in order.
tiles() {
  tr -d '\n ' < "$sources/products/gemm.h" | sed "s/.*$1\[\]={{\([^;]*\)}};.*/\1/; s/},{/ /g; s/,/x/g"
}
for file in $files; do cuobjdump --dump-resource-usage "$file" 2>&1; done | $demangle |
  sed 's/(anonymous namespace):://g; s/tx:://g; s/(\([A-Z][a-z]*\))\([0-9]\)/\1 \2/g; s/(bool)\([01]\)/\1/g' |
  awk -v limit="${STACK_LIMIT:-24}" -v tensor="$(tiles tensor_tiles)" -v plain="$(tiles plain_tiles)" '
  function least(a, b) { return a < b ? a : b }
  function up(x, step) { return int((x + step - 1) / step) * step }
  function number(text, key) {
    return match(text, " " key ":[0-9]+") ? substr(text, RSTART + length(key) + 2, RLENGTH - length(key) - 2) + 0 : 0
  }
  # The most for a block; a multiprocessor has 1 KB more.
  function shared_bytes() { return arch == "sm_120" ? 101376 : arch == "sm_80" ? 166912 : 232448 }
# A line of the table; `shape` is the case with the largest block.
  function line(shape, threads, dynamic,    warps, registers, shared, by, blocks, all) {
    warps = up(threads, 32) / 32
    registers = up(REG * 32, 256) * warps
    # 1 KB of every block is the system'"'"'s, which the listing counts from sm_90 on.
    shared = up((arch != "sm_80" ? (SHARED > 1024 ? SHARED : 1024) : SHARED + 1024) + dynamic, 128)
    all = shared_bytes() + 1024
    blocks = arch == "sm_120" ? least(int(48 / warps), 24) : least(int(64 / warps), 32); by = "threads"
    if (int(65536 / registers) < blocks) { blocks = int(65536 / registers); by = "registers" }
    if (int(all / shared) < blocks) { blocks = int(all / shared); by = "shared" }
    printf "%s %4d %6d %5d %5d %6d %6d %5d %-9s %s%s\n", arch, REG, SHARED, STACK, threads, dynamic, blocks,
      blocks * warps, by, name, shape == "" ? "" : ", " shape
    if (STACK > limit) { print "FAILED: " name " has " STACK " bytes of stack on " arch > "/dev/stderr"; bad = 1 }
    if (blocks < 1 && groups < 2) { print "FAILED: no block of " name (shape == "" ? "" : ", " shape ",") " fits " arch > "/dev/stderr"; bad = 1 }
    ++count
  }
  # Rows of logits: plan_rows() of vocabulary.h.
  function vocabularies(    n, v, size, packs, cached, most, threads) {
    n = split("8000 37000 64000 128000 256000", v, " ")
    size = name ~ /<float/ ? 4 : 2
    for (i = 1; i <= n; ++i) {
      packs = int((v[i] * size + 15) / 16)
      most = shared_bytes()
      cached = packs * 16 + 2048 <= most
      if (cached != (name ~ /, 1>|, true>/)) continue
      threads = 32
      while (threads < (cached && packs * 32 > most ? 1024 : 512) && threads * 2 <= packs / 4) threads *= 2
      line("V " v[i], threads, cached ? packs * 16 : 0)
    }
  }
  # Rows of 8 features per thread, read ahead if they are packed.
  function widths(at_once, limit, packed,    d, threads, each) {
    each = packed ~ /1|true/ ? 2 * at_once * 4 * 8 * (name ~ /<float/ ? 4 : 2) : 0
    for (d = 128; d <= 4096; d *= 2) {
      threads = int((d + 255) / 256) * 32
      if (threads <= limit && (limit < 512 || threads > 256) && threads * each + 2048 <= shared_bytes())
        line("d " d, threads, threads * each)
    }
  }
  BEGIN {
    split(tensor, tensors, " "); split(plain, plains, " ")
    print "arch   REG SHARED STACK BLOCK    DYN BLOCKS WARPS BY        kernel"
  }
  / arch = |^arch = / { arch = $NF }
  $1 == "Function" { name = $0; sub(/^ *Function */, "", name); sub(/^void /, "", name); sub(/:$/, "", name)
    sub(/\(.*/, "", name) }
  / REG:/ {
    REG = number($0, "REG"); STACK = number($0, "STACK"); SHARED = number($0, "SHARED")
    split(name, part, /[<>, ]+/); groups = 1
    if (name ~ /^forward</) line("", 128, 3 * 64 * (part[2] + 8) * 2 + 256)
    else if (name ~ /^backward</) line("", 128, 4 * 64 * (part[2] + 8) * 2 + 2 * 64 * 40 * 2 + 1024)
    else if (name ~ /tensor_kernel</) {
      split(tensors[part[3] + 1], t, "x")
      groups = part[6]  # what has more than one is for the GPUs on which it fits
      threads = groups * t[1] / part[4] * t[2] / part[5] * 32
      line(t[1] " x " t[2], threads, (groups > 1 ? groups * 4 : t[3]) * (t[1] + t[2]) * 128 + \
        (groups > 1 ? threads * part[4] * part[5] / 8 : 0))
    } else if (name ~ /wgmma_kernel</) line("128 x 128", 256, 6 * 256 * 128 + 1024)
    else if (name ~ /wgmma_relu_kernel/) line("128 x 128", 256, 3 * 256 * 128 + 1024)
    else if (name ~ /norm_kernel</) {
      groups = 2
      line("", 256, part[2] * (8192 + 16384 + 2048))
    } else if (name ~ /_projected</) {
      groups = 2
      line("", 128, part[3] * (512 + 65536) + part[4] * 2048)
    } else if (name ~ /plain_kernel</) {
      split(plains[part[3] + 1], t, "x")
      line(t[1] " x " t[2], t[1] / part[4] * t[2] / part[5], 0)
    } else if (name ~ /best_of_rows|log_softmax_rows|loss_rows/) vocabularies()
    else if (name ~ /norm_backward_rows/) widths(part[3], part[4], part[5])
    else if (name ~ /norm_backward_wide|add_parts/) line("", 512, 0)
    else if (name ~ /add_rows|add_guided|sum_before/) line("", 1024, 0)
    else if (name ~ /attend_rows|cross_rows|plain_|guide_|extend/) line("", 128, 0)
    else line("", 256, 0)
  }
  END {
    if (!count) { print "FAILED: no kernels were found" > "/dev/stderr"; bad = 1 }
    exit bad
  }'
