#!/bin/sh
# Speed of tx on a GPU: kernels against a copy and a large product, training of base and big with
# 25,000 tokens per side, decoding against its lower bound, in a pipe, and against CTranslate2 if
# python3 has it. Needs no compiler, takes at most ten minutes, and runs from a build tree or an
# unpacked bundle:
#
#   sh tests/gpu/bench.sh [BUILD]
#
# Writes gpu-bench.txt. Status 0; 1: something failed; 77: no GPU, with the reason. Settings:
# TX_SECONDS=570 is the time limit, TX_SCALE=1 divides all sizes.
set -u
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/loads.sh"
begin "tx on a GPU: bench" gpu-bench.txt "$@"
scale=${TX_SCALE:-1}
cd "$work" || exit 1
failed=0

# part SECONDS TITLE COMMAND...: runs COMMAND and adds its output to the report.
part() {
  most=$(seconds_left "$1")
  say "" && say "== $2"
  shift 2
  if [ "$most" -lt 10 ]; then
    say "skipped: no time left"
    return 1
  fi
  timeout -k 5 "$most" "$@" > out 2> err && status=0 || status=$?
  tee -a "$report" < out
  [ "$status" -ne 0 ] || return 0
  failed=$((failed + 1))
  say "FAILED with status $status: $(tail -n 3 err)"
  return 1
}

# training PRESET: the median speed in the log, without the first lines; then the profile, in a run
# of its own, since profiling makes steps slower.
training() {
  part 90 "tx-train, preset $1, bf16, $((25000 / scale)) tokens per side" \
    sh train.sh "$1" $((25000 / scale)) --steps 80 --tune ||
    return
  speed_of "$1/log.jsonl" | tee -a "$report"
  rm -rf "$1"
  part 60 "the same, 20 steps: the profile" \
    sh train.sh "$1" $((25000 / scale)) --steps 20 --tune --profile || return
  sed '/^tx-train: step /d' err | tail -n 30 | tee -a "$report"
  rm -rf "$1"
}

decoding() {
  part 100 "tx-decode, base, bf16, beam 4, $1 source tokens at a time" sh decode.sh "$1"
}

# Fixed lengths, then tx-decode.
decodings() {
  part 100 "decoding, base, bf16, beam 4, sentences of 30 tokens" \
    decode_bench base bf16 1,32,$((1024 / scale)) 1 4 30 $((37000 / scale)) 5 cuda
  random_model || return
  decoding 1024
  decoding 25000
  part 100 "tx-decode in a pipe, base, bf16, beam 4" sh "$root/tests/bench/decode_pipe.sh" \
    random.safetensors test.src DEVICE=cuda PRECISION=bf16 FORM=--pieces EXTRA=3 \
    LINES=$((200 / scale + 2)) MANY=$((20000 / scale))
  part 100 "a million lines through a pipe, a tiny model" sh "$root/tests/bench/decode_million.sh" \
    $((1000000 / scale)) cuda
  if "$work/python" -c 'import ctranslate2, numpy' 2> /dev/null; then
    for batch in 32 1024; do
      part 60 "tx-decode and CTranslate2 with the same weights, beam 4, $batch sentences" \
        sh "$root/tests/bench/decode_speed.sh" random.safetensors test.src BIN="$TX_BUILD/bin" \
        PYTHON="$work/python" DEVICE=cuda FORM=pieces EXTRA=3 BATCH=$batch \
        TOKENS=$((batch * 28)) ROUNDS=2
    done
  else
    say "" && say "${PYTHON:-python3} has no ctranslate2; set PYTHON=..."
  fi
}
part 200 "kernels" cuda_bench "$scale"
synthetic
training base
decodings
training big
say ""
[ $failed -eq 0 ] || say "$failed parts FAILED"
say "written to $report"
[ $failed -eq 0 ]
