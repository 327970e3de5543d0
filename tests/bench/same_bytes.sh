#!/bin/sh
# Checks that two builds of tx write the same bytes, for changes that must not alter any output:
#   sh tests/bench/same_bytes.sh OLD_BIN NEW_BIN [DIR]
# Each build runs the same commands in its own directory: seven short trainings (one of them
# killed and resumed), translations, scores, averages, attention records, metrics, help and pages.
# All files are compared byte for byte, logs without their times. Prints a line per part, and "the
# same" or, with status 1, the files that differ. TEXTS=1 also compares help and pages.
set -eu
[ $# -ge 2 ] || { sed -n 2,9p "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")/../.." && pwd)
old=$(cd "$1" && pwd) new=$(cd "$2" && pwd)
work=${3:-$(mktemp -d "${TMPDIR:-/tmp}/same_bytes.XXXXXX")}
rm -rf "$work/old" "$work/new"
mkdir -p "$work/old" "$work/new"

trainings() {
  sh "$here/examples/number_words.sh" 3000 100 100 . > corpus.log
  tx-bpe train --vocab-size 400 -o bpe.model train.en train.de 2> bpe.err
  tx-bpe train --vocab-size 300 -o other.model train.de 2>> bpe.err
  set -- --src train.en --tgt train.de --valid-src valid.en --valid-tgt valid.de --layers 2 \
    --d-model 48 --d-ff 96 --heads 4 --batch-tokens 512 --schedule inverse-sqrt --lr 0.004 \
    --warmup 10 --save-every 10 --log-every 5 --steps 30 --threads 2 --quiet
  tx-train "$@" --vocab bpe.model --precision fp32 -o post
  tx-train "$@" --vocab bpe.model --precision fp32 --norm-position pre --activation gelu \
    --attention-dropout 0.1 --relu-dropout 0.1 --attention-bias --recompute -o pre
  tx-train "$@" --vocab bpe.model --precision auto --accumulate 2 --d-k 8 --d-v 16 -o auto
  tx-train "$@" --vocab words --precision fp32 --tie none --positions learned -o words
  tx-train "$@" --vocab-src bpe.model --vocab-tgt other.model --tie target --precision fp32 \
    --bpe-dropout 0.1 --encoder-layers 1 -o sides
  tx-train "$@" --vocab bpe.model --precision auto --norm-position pre --weight-decay 0.01 \
    --clip-norm 1 --steps 20 -o resumed
  tx-train --resume resumed --steps 30 --quiet
  tx-train "$@" --vocab bpe.model --precision auto --optimizer sgd --epochs 1 --steps 0 -o sgd
}

searches() {
  head -n 40 test.en > few.en
  head -n 40 test.de > few.de
  for run in post pre auto words sides resumed; do
    tx-decode -m "$run" --scores < few.en > "decode-$run"
    tx-decode -m "$run" --tgt few.de < few.en > "target-$run"
    tx-attn-dump -m "$run" < few.en > "attention-$run"
  done
  tx-decode -m post --beam 1 --precision fp32 --scores < few.en > greedy
  tx-decode -m pre --beam 6 --nbest 3 --precision fp32 --scores < few.en > nbest
  tx-decode -m pre --sample --nbest 2 --top-k 7 --top-p 0.9 --seed 5 < few.en > sample
  tx-decode -m post -m pre --precision fp32 --scores < few.en > ensemble
  tx-decode -m post --precision bf16 --scores < few.en > bf16 2> bf16.err || true
  tx-decode -m post --batch-tokens 64 --threads 1 --scores < few.en > one
  tx-attn-dump -m post --tgt few.de < few.en > attention-target
  tx-attn-dump -m pre --kinds cross --layers 1 --average heads < few.en > attention-cross
  tx-avg --last 3 -o average.safetensors post
  tx-decode -m average.safetensors --scores < few.en > average
}

metrics() {
  for metric in bleu chrf ter; do tx-bleu --metric "$metric" few.de < decode-post; done > metrics
  tx-bleu --metric bleu --metric chrf --json few.de < one > json
  tx-bleu --sentence few.de < one > sentences
}

texts() {
  for tool in tx-bpe tx-train tx-decode tx-avg tx-bleu tx-attn-dump; do
    "$tool" --help > "help-$tool"
    "$tool" --man-options > "options-$tool" 2> /dev/null || true
    "$tool" --completion > "completion-$tool" 2> /dev/null || true
  done
}

# Checksums of all files; logs without times.
listing() {
  find . -type f ! -name lock | LC_ALL=C sort | while read -r file; do
    case $file in
      */log.jsonl) sed -E 's/"(seconds|tokens_per_second)":[^,}]*//g' "$file" | md5sum ;;
      *) md5sum < "$file" ;;
    esac | sed "s|-|$file|"
  done
}

status=0
for part in trainings searches metrics ${TEXTS:+texts}; do
  for side in old new; do
    eval "bin=\$$side"
    trap 'echo "$part: a command of $side failed"' EXIT
    (
      cd "$work/$side"
      PATH=$bin:$PATH
      "$part"
    )
    trap - EXIT
    (cd "$work/$side" && listing) > "$work/$side.md5"
  done
  if diff "$work/old.md5" "$work/new.md5" > "$work/differences"; then
    echo "$part: the same"
  else
    echo "$part: these files differ"
    sed -n 's/^> .*\.\//  /p' "$work/differences"
    status=1
  fi
done
[ $status -ne 0 ] || echo "the same"
exit $status
