# Functions for scripts about tx-train, in addition to lib.sh: . "$TX_SOURCE/tests/cli/train.sh"

# small_text: writes number words to train.en, train.de, valid.en, valid.de, and their bpe.model.
small_text() {
  sh "$TX_SOURCE/examples/number_words.sh" 400 40 40 .
  tx-bpe train --vocab-size 300 -o bpe.model train.en train.de 2> /dev/null
}

# small_train OPTION...: trains a small model on that text for about a second. Later options
# override earlier ones; further text files are read after the first. With runner=exec and "&", $!
# is tx-train itself. small_texts overrides the texts, and --kind.
runner=
small_texts="--src train.en --tgt train.de --valid-src valid.en --valid-tgt valid.de"
small_train() {
  # shellcheck disable=SC2086  # a list of words
  $runner tx-train $small_texts --vocab bpe.model --layers 1 --d-model 32 --heads 2 --d-ff 64 --schedule inverse-sqrt \
    --lr 0.02 --warmup 4 --batch-tokens 200 --threads 1 --precision fp32 --steps 12 \
    --save-every 3 --log-every 1 "$@"
}

# setting RUN NAME: its value in config.json.
setting() { sed -n "s/.*\"$2\": *\"*\([^,\"]*\).*/\1/p" "$1/config.json" | head -n 1; }

# refused TEXT OPTION...: small_train with these options is a usage error that leaves no files.
refused() {
  text=$1
  shift
  expect_status 2 small_train "$@" -o none
  expect_empty_stdout
  expect_stderr_contains "$text"
  expect_stderr_contains 'try tx-train --help'
  expect_no_file none
}

# recomputed OPTION...: runs `kept` and `again`, of the same weights with and without --recompute;
# false where this machine does not support the precision.
recomputed() {
  rm -rf kept again
  small_train "$@" --describe > /dev/null 2>&1 || return 1
  set -- "$@" --accumulate 2 --save-every 6
  small_train "$@" -o kept 2> run.log || fail "$(cat run.log)"
  small_train "$@" --recompute -o again 2> run.log || fail "$(cat run.log)"
  [ "$(weights_hash kept/model-12.safetensors)" = "$(weights_hash again/model-12.safetensors)" ] ||
    fail "$*: weights differ with --recompute"
}

# same_masks OPTION...: validation of two runs that learn nothing is equal, whatever their seed and
# batches: it always masks the same tokens. Leaves the run `first`.
same_masks() {
  small_train --steps 1 --save-every 1 -o first 2> run.log || fail "$(cat run.log)"
  for seed in 1 2; do
    tx-train --init first --src train.en --valid-src valid.en --schedule constant --lr 1e-12 --warmup 0 \
      --seed $seed --steps 1 --save-every 1 --batch-tokens $((200 * seed)) --threads 1 \
      --precision fp32 -o seed-$seed "$@" 2> run.log || fail "$(cat run.log)"
    grep -o '"validation_perplexity":[0-9.]*' seed-$seed/log.jsonl | cut -c -30 > figure-$seed
  done
  expect_file figure-1
  expect_same figure-1 figure-2
}

# weights_hash MODEL: prints the checksum of its weights and vocabulary.
weights_hash() { head -c 20000 "$1" | grep -ao '"xxh3":"[0-9a-f]*"' | head -n 1; }

# same_run A B: expects all files of two runs to be equal, except for times and the log's lines
# about checkpoints, which a killed run may lack.
same_run() {
  for side in "$1" "$2"; do
    (cd "$side" && find . ! -type d ! -name lock | LC_ALL=C sort) > "$TX_LAST/names-$side"
    sed -E '/"checkpoint"/d; s/"(seconds|tokens_per_second)":[^,}]*//g' "$side/log.jsonl" \
      > "$TX_LAST/log-$side"
  done
  cmp -s "$TX_LAST/names-$1" "$TX_LAST/names-$2" || {
    diff "$TX_LAST/names-$1" "$TX_LAST/names-$2" >&2 || true
    fail "$1 and $2 have different files"
  }
  while read -r name; do
    case $name in
      ./log.jsonl) ;;
      ./best.* | ./last.*)
        [ "$(readlink "$1/$name")" = "$(readlink "$2/$name")" ] || fail "$name differs"
        ;;
      *) cmp "$1/$name" "$2/$name" >&2 || fail "$1/$name and $2/$name differ" ;;
    esac
  done < "$TX_LAST/names-$1"
  cmp "$TX_LAST/log-$1" "$TX_LAST/log-$2" >&2 || fail "the logs of $1 and $2 differ"
}
