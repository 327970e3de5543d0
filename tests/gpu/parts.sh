#!/bin/sh
# The steps of check.sh that run the tools; TX_WORK is the directory in which a step leaves files
# for the next.
#   sh parts.sh NAME [WORD...]
# TX_MODEL, TX_TEXT and TX_REFERENCE (absolute paths) set the model, text and reference
# translation for tx-decode, such as newstest2014; the default is the corpus' test and the model
# trained here. Each step prints its result in its last line; status 0, 1, or 77 for skipped.
# TX_BATCH=1000 and TX_STEPS=300 are smaller sizes for the emulator.
set -u
cd "${TX_WORK:?}" || exit 1
device=cuda

fail() {
  echo "$*"
  exit 1
}

# The corpus of the bundle, or a new one.
corpus() {
  if [ -d "$TX_SOURCE/corpus" ]; then
    cp "$TX_SOURCE"/corpus/* .
  else
    sh "$TX_SOURCE/examples/number_words.sh" 3000 100 200 . || fail "no corpus"
  fi
  tx-bpe train --vocab-size 300 -o bpe.model train.en train.de || fail "tx-bpe failed"
  echo "$(wc -l < train.en) pairs"
}

# train DEVICE PRECISION RUN OPTION...
train() {
  on=$1 precision=$2 run=$3
  shift 3
  rm -rf "$run"
  tx-train --device "$on" --precision "$precision" --src train.en --tgt train.de \
    --valid-src valid.en --valid-tgt valid.de --vocab bpe.model --layers 2 --d-model 64 --heads 4 \
    --d-ff 128 --schedule inverse-sqrt --lr 0.003 --warmup 100 --batch-tokens "${TX_BATCH:-1000}" --threads 2 \
    --log-every 1 --save-every 0 --steps 20 -q -o "$run" "$@"
}

# Step and loss of each line of a run's log.
losses_of() { sed -n 's/^{"step":\([0-9]*\),.*"loss":\([-+.0-9e]*\),.*/\1 \2/p' "$1/log.jsonl"; }

# compare A B LIMIT: compares 20 losses of two runs; LIMIT is the relative difference.
compare() {
  losses_of "$1" > a
  losses_of "$2" > b
  paste -d ' ' a b | awk -v limit="$3" '
    $1 != $3 { exit bad = 1 }
    { d = ($2 - $4) / $2; if (d < 0) d = -d; if (!(d <= most)) most = d; ++n }
    END {
      if (bad || n != 20) { print "the logs do not have the same 20 steps"; exit 1 }
      printf "largest difference %.1e, limit %.0e\n", most, limit
      exit !(most <= limit)
    }'
}

losses() {
  train cpu fp32 cpu || fail "the CPU failed"
  train $device fp32 fp32 || fail "the GPU failed"
  compare cpu fp32 1e-4
}

losses_bf16() {
  train $device bf16 bf16 || fail "the GPU failed"
  compare fp32 bf16 1e-2
}

# same_run A B: models and states, byte for byte.
same_run() {
  count=0
  for file in "$1"/model-*.safetensors "$1"/state-*.safetensors; do
    cmp "$file" "$2/${file##*/}" || fail "$file and $2/${file##*/} differ"
    count=$((count + 1))
  done
  [ $count -gt 0 ] || fail "$1 has no checkpoint"
}

repeated() {
  for run in once again; do train $device bf16 $run --save-every 10 || fail "the GPU failed"; done
  same_run once again
  echo "$count files"
}

# A run that is killed between model and state of a save, then at some moment, and resumed.
resumed() {
  options="--steps 60 --save-every 15 --accumulate 2 --dropout 0.2 --keep 9"
  # shellcheck disable=SC2086  # a list of words
  train $device "$1" whole $options || fail "the GPU failed"
  # shellcheck disable=SC2086
  TX_FAILPOINT=model:3 train $device "$1" killed $options
  status=$?
  [ $status -eq 137 ] || fail "status $status instead of 137 at the failpoint"
  tx-train --resume killed -q &
  sleep "${TX_KILL_AFTER:-1.3}"
  if kill -9 $! 2> /dev/null; then kills=2; else kills=1; fi
  wait $!
  tx-train --resume killed -q || fail "the resumed run failed"
  same_run whole killed
  echo "$kills kills, $count files"
}

# The number words of examples/demo.sh.
learned() {
  train $device fp32 learned --d-model 128 --d-ff 512 --norm-position pre --dropout 0.05 \
    --schedule linear --lr 0.004 --warmup 200 --batch-tokens 2048 --steps "${TX_STEPS:-1000}" || fail "the GPU failed"
  losses_of learned | awk '
    NR == 1 { first = $2 }
    { last = $2 }
    END {
      printf "loss %.2f, then %.2f after %d steps\n", first, last, NR
      exit !(last < first * 0.75)
    }'
}

model=${TX_MODEL:-learned} text=${TX_TEXT:-test.en} reference=${TX_REFERENCE:-test.de}

# count_equal A B MIN: counts equal lines, of which there must be MIN per cent.
count_equal() {
  [ "$(wc -l < "$1")" -eq "$(wc -l < "$text")" ] || fail "$1 and $text have different numbers of lines"
  awk -v other="$2" -v min="$3" '
    { line = ""; getline line < other; if (line == $0) ++equal }
    END { printf "%d of %d lines equal\n", equal, NR; exit !(equal * 100 >= NR * min) }' "$1"
}

# translate DEVICE PRECISION FILE
translate() { tx-decode -m "$model" --device "$1" --precision "$2" < "$text" > "$3"; }

translations() {
  translate cpu fp32 cpu.de || fail "the CPU failed"
  translate $device fp32 fp32.de || fail "the GPU failed"
  count_equal fp32.de cpu.de 99
}

# BLEU of bf16 against that of fp32 on the CPU. The limit is wider for a small text, where one line
# changes BLEU more.
translations_bf16() {
  if [ ! -s cpu.de ]; then
echo "skipped: no translation by the CPU"
    exit 77
  fi
  translate $device bf16 bf16.de || fail "the GPU failed"
  for file in cpu.de bf16.de; do
    tx-bleu --score-only --width 3 "$reference" < $file || fail "no score of $file"
  done > scores
  count_equal bf16.de cpu.de 50 > equal || fail "$(cat equal)"
  awk -v lines="$(wc -l < "$text")" -v equal="$(cat equal)" '
    { score[NR] = $1 }
    END {
      limit = lines < 1000 ? 0.5 : 0.05
      d = score[2] - score[1]
      printf "BLEU %s, in fp32 on the CPU %s, limit %s; %s\n", score[2], score[1], limit, equal
      exit !(NR == 2 && score[1] > 10 && d <= limit && d >= -limit)
    }' scores
}

# Few steps for compute-sanitizer, which is slow: with a graph, a save and a validation.
few_steps() {
  train $device bf16 few --steps 3 --save-every 2 --dropout 0.1 || fail "the GPU failed"
}
few_lines() {
  head -n 2 test.en | tx-decode -m few --device $device --precision bf16 || fail "the GPU failed"
}

invariance() { tx-decode -m "$model" --device $device --check-invariance test.en 2>&1; }

"$@"
