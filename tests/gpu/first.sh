#!/bin/sh
# The first minutes on a GPU, most valuable parts first. Needs neither a compiler nor a network,
# and runs from a build tree or an unpacked bundle:
#
#   sh tests/gpu/first.sh [BUILD [PART...]]
#
# Parts, by default all: machine, its hardware and software; cases, each test in its own process;
# parity, a step compared with the CPU's; kernels; base, 80 steps; big, 40; decoding; checkers,
# those of compute-sanitizer on selected cases. Output goes line by line to gpu-first.txt in $OUT
# or the current directory. No part takes more than its share of TX_SECONDS=570, and a failed part
# does not stop the others. Status 0; 1: something failed; 77: no GPU. TX_SCALE=1 divides sizes,
# TX_PATIENCE=1 multiplies shares; TX_JOBS=4 cases run in parallel, for at most TX_CASE_SECONDS=20
# each; TX_CASES=text selects cases by name.
set -u
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/loads.sh"
begin "tx on a GPU: first" "$(cd "${OUT:-.}" && pwd)/gpu-first.txt" "$@"
[ $# -eq 0 ] || shift
parts=${*:-machine cases parity kernels base big decoding checkers}
scale=${TX_SCALE:-1}
tokens=$((25000 / scale)) words=$((37000 / scale)) size=base less=""
[ "$scale" -eq 1 ] || { size=small && less="--layers 1 --d-model 64 --heads 2 --d-ff 128"; }
TX_WORK=$work
export TX_WORK
cd "$work" || exit 1
. "$root/tests/gpu/part.sh"

cat > machine.sh <<'SCRIPT'
uname -srm
ldd --version 2>&1 | head -n 1
nproc && free -g 2> /dev/null | head -n 2
nvidia-smi 2>&1
nvidia-smi -q -d CLOCK,POWER,TEMPERATURE 2>&1 | grep -i 'graphics\|sm  \|memory  \|power draw\|gpu current'
echo "cuBLASLt:"
ldconfig -p 2> /dev/null | grep cublasLt
ls -l /usr/local/cuda*/lib64/libcublasLt.so.* /opt/*/lib/python3*/*-packages/nvidia/*/lib/libcublasLt* \
  /opt/*/.venv/lib/python3*/*-packages/nvidia/*/lib/libcublasLt* \
  /usr/*/lib/python3*/*-packages/nvidia/*/lib/libcublasLt* 2> /dev/null
echo "tools: $(command -v nvcc ncu compute-sanitizer cuobjdump nsys python3 | tr '\n' ' ')"
"$TX_WORK/python" -c 'import torch; print("torch", torch.__version__, torch.version.cuda)' 2>&1 | tail -n 1
"$TX_WORK/python" -c 'import ctranslate2; print("ctranslate2", ctranslate2.__version__)' 2>&1 | tail -n 1
for file in "$TX_BUILD"/bin/* "$TX_BUILD"/lib/*.so "$TX_BUILD"/tests/gpu-*; do
  [ -f "$file" ] && [ -x "$file" ] || continue
  ldd "$file" | grep 'not found' | sed "s|^|$file: |"
done > missing
cat missing
tx-train --version
[ ! -s missing ]
SCRIPT

cat > case.sh <<'SCRIPT'
log=case.$$
timeout -k 2 "${TX_CASE_SECONDS:-20}" "$1" --color_output=no --run_test="$2" > $log 2>&1
status=$?
echo "$status" >> results
[ $status -eq 0 ] || printf 'FAIL %s %s: status %s\n%s\n' "${1##*/}" "$2" $status "$(tail -n 12 $log)"
rm -f $log
SCRIPT
cat > cases.sh <<'SCRIPT'
for test in "$TX_BUILD"/tests/gpu-*; do
  [ -x "$test" ] || continue
  "$test" --list_content 2>&1 | awk -v test="$test" -v wanted="${TX_CASES-}" '
    { sub(/[*]$/, "") }
    /^[^ ]/ { suite = $1; next }
    index(suite "/" $1, wanted) { print test, suite "/" $1 }'
done > cases
: > results
xargs -P "${TX_JOBS:-4}" -L 1 sh case.sh < cases
echo "$(grep -c '^0$' results) of $(wc -l < cases) cases passed"
[ "$(grep -c '^0$' results)" -eq "$(wc -l < cases)" ]
SCRIPT

cat > parity.sh <<'SCRIPT'
sh "$TX_SOURCE/tests/gpu/parts.sh" corpus || exit 1
tx-train --parity --src train.en --tgt train.de --vocab bpe.model --batch-tokens "${TX_BATCH:-1000}" \
  --dropout 0.1 -q "$@" > parity.out
status=$?
if [ $status -eq 0 ]; then grep -v gradient parity.out; else cat parity.out; fi
exit $status
SCRIPT

# training PRESET STEPS OPTION...
training() {
  preset=$1 steps=$2
  shift 2
  rm -rf "$preset"
  # shellcheck disable=SC2086  # words
  part 90 "tx-train, preset $preset, bf16, $tokens tokens per side, $steps steps $*" \
    sh train.sh "$preset" "$tokens" --steps "$steps" $less "$@" || return
  speed_of "$preset/log.jsonl" | tee -a "$report"
}

# scaled N: N sentences divided by TX_SCALE, at least one.
scaled() { echo $((($1 + scale - 1) / scale)); }

decodings() {
  for sentences in 1 "$(scaled 32)" "$(scaled 512)" "$(scaled 1024)"; do
    for workers in 1 2; do
      part 60 "decoding, base, bf16, beam 4, $sentences sentences of 30 tokens, workers: $workers" \
        decode_bench $size bf16 "$sentences" 1 4 $((scale > 1 ? 4 : 30)) "$words" 5 cuda 0 $workers
    done
  done
  random_model || return
  for batch in 1024 16384; do
    part 60 "tx-decode, batches of $batch source tokens, two overlapping searches" \
      sh decode.sh "$(scaled $batch)"
  done
}

checkers() {
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  [ -x "$sanitizer" ] || { say "" && say "compute-sanitizer is not installed" && return; }
  for tool in memcheck racecheck; do
    for chosen in attention_cached/many_rows pointwise/rows_in_packs norm_backward/table \
      attention/table attention_backward/table topk_wide/wide_rows gemm_gpu/training_shapes; do
      [ "$tool $chosen" != "racecheck topk_wide/wide_rows" ] || continue # takes over a minute
      part 60 "$tool of $chosen" sh under.sh "$sanitizer" --tool $tool --target-processes all \
        --error-exitcode 9 -- "$TX_BUILD/tests/gpu-kernels" --color_output=no --run_test=$chosen
    done
  done
}

synthetic
for name in $parts; do
  case $name in
    machine) part 30 "the machine" sh machine.sh ;;
    cases) part 150 "each case in its own process" sh cases.sh ;;
    parity)
      part 60 "one step compared with the CPU's" sh parity.sh --layers 2 --d-model 64 --heads 4 --d-ff 128
      [ "$scale" -gt 1 ] || part 90 "the same with layers of base" sh parity.sh --preset base --layers 2
      ;;
    kernels) part 100 "kernels" cuda_bench "$scale" ;;
    base) training base $((scale > 1 ? 6 : 80)) --tune && training base $((scale > 1 ? 6 : 20)) --tune --profile ;;
    big) training big $((scale > 1 ? 6 : 40)) --tune ;;
    decoding) decodings ;;
    checkers) checkers ;;
    *) say "unknown part '$name'" && failed=$((failed + 1)) ;;
  esac
done
ended
