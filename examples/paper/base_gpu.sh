#!/bin/sh
# The paper's base model on one GPU in a few minutes, from raw text to BLEU and the cost of training
# beside that of Table 2.
#   sh examples/paper/base_gpu.sh DATA DIR [SETTING=VALUE]...
# DATA contains train, dev and test, each as NAME.en and NAME.fr or NAME.en.xz and NAME.fr.xz: raw
# text, one sentence per line, such as the federal laws of Canada (../data/README.md). Run it again
# to resume after an interruption; other settings need another DIR. DIR/result has what it prints.
# MINUTES=6                      length of the training, or STEPS=N; a larger one continues a run
# FROM=en TO=fr                  languages
# VOCAB=16000                    size of the joint vocabulary
# TRAIN=train VALID=dev TEST=test  names of the texts
# SAVE=500 AVERAGE=5             steps between checkpoints, number of the last ones to average
# DEVICE=cuda                    or cpu, for a dry run
# OPTIONS=                       further options of tx-train, such as --recompute for a small GPU
# DECODE="--beam 4 --alpha 0.6"  the paper's search
# RATE=                          TFLOP/s that the GPU sustains: also prints time x rate, as the paper
#                                does with 9.5 per P100
# PREPARE=0                      1: only what needs no GPU: texts, vocabulary and token ids. The ids
#                                are of use on the same machine, DIR/bpe.model on any
# PARTS=0                        1: also writes the averaged model in int8 to DIR/parts, in parts of
#                                16 MiB, with the log, the translations and the result; cat joins them
# The energy is that of the GPU during training, from nvidia-smi if it is installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../train.sh"
data=${1:?"usage: base_gpu.sh DATA DIR [SETTING=VALUE]..."}
dir=${2:?"DIR is missing"}
shift 2
MINUTES=6 STEPS='' FROM=en TO=fr VOCAB=16000 TRAIN=train VALID=dev TEST=test SAVE=500 AVERAGE=5
DEVICE=cuda OPTIONS='' DECODE='--beam 4 --alpha 0.6' RATE='' PREPARE=0 PARTS=0
recorded='FROM TO VOCAB TRAIN VALID TEST SAVE AVERAGE DEVICE OPTIONS DECODE'
settings "$recorded MINUTES STEPS RATE PREPARE PARTS" "$@"
preset='--preset base'
case " $OPTIONS" in *' --preset '*) preset='' ;; esac

# text NAME LANGUAGE: the file; unpacked to DIR/text if only NAME.LANGUAGE.xz exists.
text() {
  file=$data/$1.$2
  if [ ! -e "$file" ] && [ -e "$file.xz" ]; then
    [ -e "$dir/text/$1.$2" ] || {
      mkdir -p "$dir/text"
      xz -dc "$file.xz" > "$dir/text/$1.$2.new"
      mv "$dir/text/$1.$2.new" "$dir/text/$1.$2"
    }
    file=$dir/text/$1.$2
  fi
  echo "$file"
}
src=$(text "$TRAIN" "$FROM") tgt=$(text "$TRAIN" "$TO")
valid_src=$(text "$VALID" "$FROM") valid_tgt=$(text "$VALID" "$TO")
test_src=$(text "$TEST" "$FROM") test_tgt=$(text "$TEST" "$TO")
same_settings "$dir" "$recorded" "$src" "$tgt" "$valid_src" "$valid_tgt" "$test_src" "$test_tgt"
[ -e "$dir/bpe.model" ] || tx-bpe train --vocab-size "$VOCAB" -o "$dir/bpe.model" "$src" "$tgt"
set -- --src "$src" --tgt "$tgt" --valid-src "$valid_src" --valid-tgt "$valid_tgt" \
  --vocab "$dir/bpe.model" --cache "$dir/cache"
# The ids do not depend on the model: one step of a toy leaves them in DIR/cache.
[ "$PREPARE" -eq 0 ] || {
  rm -rf "$dir/toy"
  tx-train -q --device cpu --preset toy --batch-tokens 2048 --steps 1 --save-every 0 "$@" -o "$dir/toy"
  rm -r "$dir/toy"
  echo "prepared: $dir/bpe.model, $dir/cache"
  exit
}

# shellcheck disable=SC2086  # settings are split into words, here and below
set -- $preset "$@" --batch-tokens 25000 --precision bf16 --device "$DEVICE" --save-every "$SAVE" \
  --keep "$AVERAGE" $OPTIONS
tx-train --describe "$@" > "$dir/plan"
sampler=''
if [ "$DEVICE" = cuda ] && command -v nvidia-smi > /dev/null 2>&1; then
  nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --query-gpu=timestamp,power.draw \
    --format=csv,noheader,nounits -lms 250 >> "$dir/power" 2> /dev/null &
  sampler=$!
  trap 'kill $sampler 2> /dev/null || :' EXIT
  trap 'exit 130' INT TERM HUP
fi
# Without STEPS only the time ends a run: the paper's schedule does not depend on its length.
if [ "$STEPS" ]; then
  train "$dir/run" "$STEPS" "$@"
elif ls "$dir"/run/state-*.safetensors > /dev/null 2>&1; then
  tx-train --resume "$dir/run" --steps 0 --minutes "$MINUTES"
else
  tx-train "$@" --steps 0 --minutes "$MINUTES" -o "$dir/run"
fi
[ -z "$sampler" ] || { kill "$sampler" 2> /dev/null || :; }

tx-avg -q --last "$(checkpoints "$dir/run" "$AVERAGE")" -o "$dir/model.safetensors" "$dir/run"
case $DEVICE in cpu) set -- ;; *) set -- --device "$DEVICE" --precision bf16 ;; esac
# shellcheck disable=SC2086
tx-decode -q -m "$dir/model.safetensors" $DECODE "$@" < "$test_src" > "$dir/$TEST.$TO"
{
  sed -n 's/.*"step":\([0-9]*\),.*"validation_perplexity":\([0-9.]*\).*/step \1: perplexity \2 of the validation text/p' \
    "$dir/run/log.jsonl" | tail -n 1
  printf '%s: ' "$TEST"
  tx-bleu --confidence "$test_tgt" < "$dir/$TEST.$TO"
} > "$dir/result"
# Joules: means of neighbouring samples; pauses of more than 5 seconds are between runs.
energy=$(awk -F '[ :,]+' 'NF == 5 && $5 + 0 > 0 {
    now = $2 * 3600 + $3 * 60 + $4
    gap = now - last + (now < last ? 86400 : 0)
    if (NR > 1 && gap < 5) { joules += gap * ($5 + power) / 2; seconds += gap }
    last = now; power = $5
  }
  END { if (seconds) printf "%.4g kJ, %.0f W", joules / 1000, joules / seconds }' \
  "$dir/power" 2> /dev/null) || energy=''
sed -n 's/.*"step":\([0-9]*\),.*"tokens":\([0-9]*\),.*"seconds":\([0-9.]*\).*/\1 \2 \3/p' \
  "$dir/run/log.jsonl" | tail -n 1 |
  awk -v flops="$(flops_per_token "$dir/plan")" -v rate="$RATE" -v energy="$energy" '{
    printf "| | this run | base in Table 2 |\n|---|---|---|\n"
    printf "| steps | %d | 100,000 |\n", $1
    printf "| time | %.2f minutes | 12 hours on 8 P100 |\n", $3 / 60
    printf "| product FLOPs, counted from shapes | %.3g | |\n", $2 * flops
    printf "| TFLOP/s | %.3g | 9.5 per P100, estimated |\n", $2 * flops / $3 / 1e12
    printf "| FLOPs, time x rate | %s | 3.3e+18 |\n", rate ? sprintf("%.3g", $3 * rate * 1e12) : ""
    printf "| energy of the GPU | %s | |\n", energy
  }' >> "$dir/result"
hash_of_settings "$dir" "STEPS=$STEPS" >> "$dir/result"
cat "$dir/result"
[ "$PARTS" -eq 0 ] || {
  rm -rf "$dir/parts"
  mkdir "$dir/parts"
  tx-avg -q --last "$(checkpoints "$dir/run" "$AVERAGE")" --to int8 -o "$dir/int8.safetensors" \
    "$dir/run"
  split -b 16777216 "$dir/int8.safetensors" "$dir/parts/int8.safetensors."
  cp "$dir/result" "$dir/$TEST.$TO" "$dir/run/log.jsonl" "$dir/parts/"
}
