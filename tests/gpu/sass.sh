#!/bin/sh
# What nvcc made of the CUDA kernels: registers, stack, shared memory, and numbers of tensor core
# instructions (HMMA, or HGMMA), matrix loads (LDSM), asynchronous copies (LDGSTS), local memory accesses
# (STL, LDL), 16-byte stores (ST16) and 2-byte stores (ST2). Needs no GPU, but cuobjdump and nvdisasm of a CUDA toolkit
# and a build by nvcc:
#
#   sh tests/gpu/sass.sh [BUILD]      or a directory of object files
#
# Status 1: a kernel that multiplies tiles does not use tensor cores, one that writes packed rows
# has no 16-byte store, a product with packed output has 2-byte stores, or one has more than 24 bytes
# of stack, which means spilled registers (STACK_LIMIT=24). 77: nothing to check.
set -eu
build=${1:-build}
limit=${STACK_LIMIT:-24}
for tool in cuobjdump nvdisasm; do
  command -v $tool > /dev/null 2>&1 || PATH=$PATH:/usr/local/cuda/bin
  command -v $tool > /dev/null 2>&1 || { echo "skipped: no $tool here" >&2 && exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/tx-sass.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
: > "$work/tiles" && : > "$work/packs" && : > "$work/wide"
find "$build" -name '*.cu.o' | LC_ALL=C sort > "$work/objects"
[ -s "$work/objects" ] || { echo "skipped: no objects of nvcc in $build" >&2 && exit 77; }
while read -r object; do
  cuobjdump -res-usage "$object" 2>&1
  cuobjdump -sass "$object" 2>&1
done < "$work/objects" > "$work/dump"
demangle=cat
! command -v c++filt > /dev/null 2>&1 || demangle=c++filt

# Both listings give the architecture, then each function with its data.
awk '
  /^arch = / { arch = $3 }
  $1 == "Function" && $2 != ":" { name = $2; sub(/:$/, "", name) }
  $1 == "Function" && $2 == ":" { name = $3 }
  / REG:/ { use[arch " " name] = $0 }
  /^[ \t]*\/\*[0-9a-f]+\*\// {
    for (i = 2; i <= 4; ++i) {
      word = $i
      if (word ~ /^STG[.].*128/) word = "ST16"
      if (word ~ /^STG[.].*U16/) word = "ST2"
      sub(/[.;].*/, "", word)
      if (word == "HGMMA") word = "HMMA"
      if (word ~ /^(HMMA|LDSM|LDGSTS|STL|LDL|ST16|ST2)$/) { ++count[arch " " name " " word]; break }
    }
  }
  function part(text, key) {
    if (!match(text, " " key ":[0-9]+")) return 0
    return substr(text, RSTART + length(key) + 2, RLENGTH - length(key) - 2)
  }
  END {
    for (key in use) {
      printf "%s", key
      printf " %d %d", part(use[key], "REG"), part(use[key], "STACK")
      printf " %d", part(use[key], "SHARED")
      split("HMMA LDSM LDGSTS STL LDL ST16 ST2", words, " ")
      for (i = 1; i <= 7; ++i) printf " %d", count[key " " words[i]]
      printf "\n"
    }
  }' "$work/dump" | LC_ALL=C sort > "$work/kernels"

status=0
echo "arch   REG STACK SHARED HMMA LDSM LDGSTS STL LDL ST16 ST2 kernel"
while read -r arch name registers stack shared hmma ldsm ldgsts stl ldl st16 st2; do
  short=$(echo "$name" | $demangle |
    sed 's/(anonymous namespace):://g; s/tx:://g; s/(\([A-Z][a-z]*\))\([0-9]\)/\1 \2/g; s/^void //; s/(.*//')
  printf '%s %5d %5d %6d %4d %4d %6d %3d %3d %4d %3d %s\n' "$arch" "$registers" "$stack" "$shared" \
    "$hmma" "$ldsm" "$ldgsts" "$stl" "$ldl" "$st16" "$st2" "$short"
  if [ "$stack" -gt "$limit" ]; then
    echo "FAILED: $short has $stack bytes of stack on $arch, more than $limit" >&2
    status=1
  fi
  case $name in
    *13tensor_kernel* | *12wgmma_kernel* | *17wgmma_relu_kernel* | *11norm_kernel* | *10cross_rows* | \
      *_projectedI* | *7forwardILi* | *8backwardILi*)
      echo x >> "$work/tiles"
      if [ "$hmma" -eq 0 ]; then
        echo "FAILED: $short does not use tensor cores on $arch" >&2
        status=1
      fi
      ;;
  esac
  case $name in
    *13tensor_kernel*5PacksEvE*) ;; # output that cannot be packed
    *13tensor_kernel*5Packs* | *12wgmma_kernel* | *17wgmma_relu_kernel* | *11norm_kernel*)
      echo x >> "$work/wide"
      if [ "$st2" -gt 0 ] || [ "$st16" -eq 0 ]; then
        echo "FAILED: $short has $st2 stores of 2 bytes and $st16 of 16 on $arch" >&2
        status=1
      fi
      ;;
    *15sum_pass_kernel*4ReadI*) ;; # column sums of what it only reads
    *add_norm_rowsI*Lb0E* | *norm_backward_rowsI*Lb0E*) ;; # rows that cannot be packed
    *pass_kernelI* | *add_norm_rowsI* | *add_norm_wideI* | *norm_backward_*I* | *10add_chunksI* | \
      *11attend_rowsI*Lb1E* | *10cross_rowsILb1E* | *_projectedI*)
      echo x >> "$work/packs"
      if [ "$st16" -eq 0 ]; then
        echo "FAILED: $short has no store of 16 bytes on $arch" >&2
        status=1
      fi
      ;;
  esac
done < "$work/kernels"
[ -s "$work/tiles" ] && [ -s "$work/packs" ] && [ -s "$work/wide" ] || {
  echo "FAILED: the kernels of tiles or packs were not found by name" >&2
  status=1
}
echo "$(wc -l < "$work/kernels") kernels, $(wc -l < "$work/tiles") of tiles"
exit $status
