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
