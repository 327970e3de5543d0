#!/bin/sh
# For more minutes on a GPU, after first.sh: other toolkits on the same machine, and what the
# figures of first.sh do not explain. Needs neither a compiler nor a network, and runs from a
# build tree or an unpacked bundle:
#
#   sh tests/gpu/second.sh [BUILD [PART...]]
#
# Parts, by default all: torch, the same trainings in PyTorch, eager and compiled; switches, two
# settings that take turns; kernels, six under Nsight Compute; libraries, products with each
# cuBLASLt found; ctranslate2, decoding with the same weights. Parts that need missing software
# are skipped with a message. Output goes line by line to gpu-second.txt in $OUT or the current
# directory. Status 0; 1: something failed; 77: no GPU. TX_SECONDS=570 is the time limit,
# TX_SCALE=1 divides sizes, TX_PATIENCE=1 multiplies shares; PYTHON=python3 has torch or
# ctranslate2, TX_TORCH_DEVICE=cuda is PyTorch's device; TX_KERNELS="GROUP:REGEX ..." selects
# kernels in groups of cuda_bench, TX_LIBRARIES="FILE ..." the cuBLASLt libraries.
set -u
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/loads.sh"
begin "tx on a GPU: second" "$(cd "${OUT:-.}" && pwd)/gpu-second.txt" "$@"
[ $# -eq 0 ] || shift
parts=${*:-torch switches kernels libraries ctranslate2}
scale=${TX_SCALE:-1}
tokens=$((25000 / scale)) words=$((37000 / scale)) less=""
[ "$scale" -eq 1 ] || less="--layers 1 --d-model 64 --heads 2 --d-ff 128"
steps=$((scale > 1 ? 6 : 40))
cd "$work" || exit 1
. "$root/tests/gpu/part.sh"

# torch_training PRESET OPTION...
torch_training() {
  preset=$1
  shift
  # shellcheck disable=SC2086  # words
  part 150 "PyTorch, $preset, bf16, $tokens tokens per side: source + target tokens/s: $*" \
    "$work/python" "$root/tests/bench/peers/torch_train.py" train.src.ids train.tgt.ids \
    --device "${TX_TORCH_DEVICE:-cuda}" --bf16 --vocabulary $(((words + 63) / 64 * 64)) \
    --batch-tokens "$tokens" --steps $steps --skip $((steps / 2)) $less "$@"
}
torch() {
  "$work/python" -c 'import torch' 2> /dev/null || { say "" && say "${PYTHON:-python3} has no torch" && return; }
  for side in src tgt; do sed 's/w//g' train.$side > train.$side.ids; done
  torch_training base
  torch_training base --compile
  torch_training big --d-model 1024 --d-ff 4096 --heads 16 --dropout 0.3 $less --compile
}

# turns.sh ROUNDS A B COMMAND...: runs COMMAND with A and B in turn, each NAME=VALUE or an option, and
# prints the time of each.
cat > turns.sh <<'SCRIPT'
rounds=$1 a=$2 b=$3
shift 3
once() {
  setting=$1
  shift
  began=$(($(date +%s%N) / 1000000))
  case $setting in
    -*) "$@" "${setting%%=*}" "${setting#*=}" ;;
    *) env "$setting" "$@" ;;
  esac > log 2>&1 || { cat log >&2; exit 1; }
  echo $(($(date +%s%N) / 1000000 - began))
}
for _ in $(seq "$rounds"); do
  once "$a" "$@" >> turns.a || exit 1
  once "$b" "$@" >> turns.b || exit 1
done
for file in turns.a turns.b; do
  sort -n $file | awk -v name="$([ $file = turns.a ] && echo "$a" || echo "$b")" '
    { x[NR] = $1 }
    END { printf "%-32s %6d ms, median of %d: %d to %d\n", name, x[int((NR + 1) / 2)], NR, x[1], x[NR] }'
done
rm -f turns.a turns.b
SCRIPT
# turn TITLE A B COMMAND...
turn() {
  what=$1
  shift
  part 90 "$what" sh turns.sh $((scale > 1 ? 1 : 3)) "$@"
}
cat > short.sh <<'SCRIPT'
rm -rf short && exec sh train.sh base "$TX_TOKENS" --steps 6 -o short "$@"
SCRIPT
cat > one_line.sh <<'SCRIPT'
head -n 1 test.src | tx-decode -m random.safetensors --device cuda --precision bf16 --pieces "$@"
SCRIPT
cat > lines.sh <<'SCRIPT'
tx-decode -m random.safetensors --device cuda --precision bf16 --pieces --max-extra 3 "$@" < many.src
SCRIPT
switches() {
  TX_TOKENS=$tokens
  export TX_TOKENS
  random_model || return
  for _ in $(seq $((scale > 1 ? 1 : 16))); do cat test.src; done > many.src
  turn "one line: kernels loaded when they are needed, or all at the start" \
    CUDA_MODULE_LOADING=LAZY CUDA_MODULE_LOADING=EAGER sh one_line.sh
  # shellcheck disable=SC2086  # words
  turn "6 steps of base, likewise" CUDA_MODULE_LOADING=LAZY CUDA_MODULE_LOADING=EAGER sh short.sh $less
  turn "one worker or two" --threads=1 --threads=2 sh lines.sh --batch-tokens $((16384 / scale + 1))
  turn "batch size, two workers" --batch-tokens=$((8192 / scale + 1)) \
    --batch-tokens=$((32768 / scale + 1)) sh lines.sh
  for tune in "" --tune; do
    rm -rf base
    # shellcheck disable=SC2086  # words
    part 60 "$steps steps of base ${tune:-without --tune}" sh train.sh base "$tokens" --steps $steps \
      $less $tune && speed_of base/log.jsonl | tee -a "$report"
  done
}

# The kernels furthest from their lower bound in first.sh.
kernels() {
  ncu=$(command -v ncu || ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2> /dev/null | tail -n 1)
  [ -x "$ncu" ] || { say "" && say "ncu is not installed" && return; }
  for chosen in ${TX_KERNELS:-attention:^backward attention:^forward layers:norm_backward \
    cached:attend loss:loss_rows tiles:tensor_kernel}; do
    part 45 "ncu of ${chosen#*:} in cuda_bench's group ${chosen%%:*}" sh under.sh "$ncu" \
      --target-processes all --clock-control none --kernel-name "regex:${chosen#*:}" \
      --launch-skip 1 --launch-count 2 --kill yes --section SpeedOfLight --section LaunchStats \
      --section Occupancy --section MemoryWorkloadAnalysis --section WarpStateStats \
      -- "$TX_BUILD/tests/cuda_bench" "$scale" "${chosen%%:*}"
  done
}

libraries() {
  # shellcheck disable=SC2086  # words
  ls ${TX_LIBRARIES:-/usr/local/cuda*/lib64/libcublasLt.so.* \
    /usr/lib/x86_64-linux-gnu/libcublasLt.so.* \
    /opt/*/lib/python3*/*-packages/nvidia/*/lib/libcublasLt.so.* \
    /opt/*/.venv/lib/python3*/*-packages/nvidia/*/lib/libcublasLt.so.* \
    /usr/*/lib/python3*/*-packages/nvidia/*/lib/libcublasLt.so.*} 2> /dev/null |
    while read -r file; do readlink -f "$file"; done | LC_ALL=C sort -u > places
  while read -r place <&3; do
    part 60 "products with $place" env TX_CUBLASLT="$place" cuda_bench "$scale" products
  done 3< places
}

ctranslate2() {
  "$work/python" -c 'import ctranslate2, numpy' 2> /dev/null ||
    { say "" && say "${PYTHON:-python3} has no ctranslate2" && return; }
  [ -s random.safetensors ] || random_model || return
  for batch in 32 1024; do
    part 60 "tx-decode and CTranslate2 with the same weights, beam 4, $batch sentences" \
      sh "$root/tests/bench/decode_speed.sh" random.safetensors test.src BIN="$TX_BUILD/bin" \
      PYTHON="$work/python" DEVICE=cuda FORM=pieces EXTRA=3 BATCH=$batch TOKENS=$((batch * 28)) \
      ROUNDS=2
  done
}

synthetic
for name in $parts; do
  case $name in
    torch | switches | kernels | libraries | ctranslate2) $name ;;
    *) say "unknown part '$name'" && failed=$((failed + 1)) ;;
  esac
done
ended
