# --guided-alignment: a head learns given word alignments and aligns other text.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
# Lines of two to six words with reversed targets: word i is aligned with word n - 1 - i. The wrong
# alignments, i with i, are not learned without the option.
reversed() { # LINES SEED NAME
  awk -v lines="$1" -v x="$2" -v name="$3" 'BEGIN {
    for (n = 0; n < lines; ++n) {
      x = x * 16807 % 2147483647
      words = 2 + x % 5
      source = target = links = wrong = ""
      for (i = 0; i < words; ++i) {
        x = x * 16807 % 2147483647
        word = "w" x % 23 "en"
        source = source (i ? " " : "") word
        target = word (i ? " " : "") target
        links = links (i ? " " : "") i "-" words - 1 - i
        wrong = wrong (i ? " " : "") i "-" i
      }
      print source > (name ".src")
      print target > (name ".tgt")
      print links > (name ".links")
      print wrong > (name ".wrong")
    }
  }'
}
reversed 800 1 back
reversed 60 2 other
tx-bpe train --vocab-size 290 -o back.model back.src back.tgt 2> /dev/null
learn() {
  tx-train -q --src back.src --tgt back.tgt --vocab back.model --preset toy --layers 1 --d-model 32 \
    --heads 2 --d-ff 64 --steps 500 --lr 0.01 --threads 1 --precision fp32 --log-every 100 "$@"
}
error_rate() { # MODEL LINKS OPTION...
  model=$1 links=$2
  shift 2
  tx-attn-dump -m "$model" --align --words --layers 0 "$@" --tgt other.tgt other.src |
    tx-bleu --metric aer --score-only "$links" | sed 's/[.].*//'
}
learn -o plain 2> log || fail "$(cat log)"
learn --guided-alignment back.wrong --guided-weight 1 -o guided 2> log || fail "$(cat log)"
learn --guided-alignment back.links --guided-weight 1 --guided-shift --guided-head 0.1 -o shifted 2> log ||
  fail "$(cat log)"
before=$(error_rate plain other.wrong --heads 0) after=$(error_rate guided other.wrong --heads 0)
[ "$after" -lt 15 ] && [ "$before" -gt $((2 * after + 20)) ] ||
  fail "alignment error rate $before without, $after with --guided-alignment"
shifted=$(error_rate shifted other.links --heads 1 --shift)
[ "$shifted" -lt 15 ] || fail "alignment error rate $shifted with --guided-shift"

# The log has its loss, which falls; without the option there is none.
grep -o '"guided_loss":[0-9.]*' guided/log.jsonl | sed 's/.*://' > losses
[ "$(wc -l < losses)" -eq 5 ] || fail "$(cat guided/log.jsonl)"
awk 'NR == 1 { first = $1 } END { exit !($1 < 0.8 * first) }' losses || fail "$(cat losses)"
! grep -q guided plain/log.jsonl || fail 'a guided loss without a guided head'

# A weight of 0 changes only the log; alignments are in the cache only.
learn --guided-alignment back.links --guided-weight 0 -o nothing 2> log || fail "$(cat log)"
[ "$(weights_hash nothing/last.safetensors)" = "$(weights_hash plain/last.safetensors)" ] ||
  fail 'weights differ with --guided-weight 0'
! cmp -s nothing/train.ids plain/train.ids || fail 'the cache has no alignments'

# Killed and resumed, also with BPE-dropout; recomputed; with a shared cache.
awk '{ links = "0-0"; print (NF > 1 ? links " 1-0" : links) }' train.en > train.links
whole_run --guided-alignment train.links --bpe-dropout 0.2
stop_at state model:2 rename:9
random_kills 1 5
rm -rf whole
small_train --guided-alignment train.links --cache shared -o kept 2> log || fail "$(cat log)"
small_train --guided-alignment train.links --cache shared --recompute -o again 2> log || fail "$(cat log)"
[ "$(weights_hash kept/last.safetensors)" = "$(weights_hash again/last.safetensors)" ] ||
  fail 'weights differ with --recompute'
[ "$(ls shared | wc -l)" -eq 2 ] || fail "$(ls shared)"
small_train --cache shared -o usual 2> log || fail "$(cat log)"
[ "$(ls shared | wc -l)" -eq 3 ] || fail 'runs with and without alignments share a cache'

# A resumed run without its ids reads the alignments again, also from another path.
rm -rf shared kept/train.ids
mv train.links moved.links
expect_status 0 tx-train --resume kept --steps 14 --guided-alignment moved.links
expect_stderr_contains 'is ignored if the tokenised text, train.ids, exists'
printf '\n' | cat - moved.links | head -n "$(wc -l < moved.links)" > wrong.links
rm -rf shared kept/train.ids
expect_status 1 tx-train --resume kept --steps 16 --guided-alignment wrong.links
expect_usage_error '--guided-alignment cannot be added to a resumed run' \
  tx-train --resume usual --guided-alignment moved.links
expect_usage_error '--guided-weight cannot be used with --resume' tx-train --resume again --guided-weight 2

# A step that is recorded has its alignments and can be replayed.
learn --guided-alignment back.links --guided-weight 1 --steps 60 --lr 0.5 --on-spike skip \
  --spike-threshold 0.01 --spike-floor 0.0001 --spike-window 5 -o spike 2> log || fail "$(cat log)"
expect_status 0 tx-train --replay "$(find spike -name 'flight-*' | head -n 1)"
expect_stderr_contains 'bit-identical to the record'

# Bad input: one line with the place.
bad() { # TEXT: content of the file of alignments
  cat > bad.links
  expect_status 1 small_train --guided-alignment bad.links -o bad
  expect_stderr_contains "$1"
  expect_no_file bad
}
lines=$(wc -l < train.en)
yes 0-0 | head -n "$lines" | sed '3s/.*/0-0 1_1/' |
  bad "bad.links:3: '1_1' is not a link; write 0-1 for a sure one"
yes 0-0 | head -n "$lines" | sed '7s/.*/0-99/' | bad 'bad.links:7: link 0-99, but the target has '
yes 0-0 | head -n 10 | bad "text and links have different numbers of lines: $lines in train.en, $lines in train.de, 10 in bad.links; train.en:11 is the first line without a counterpart"
yes 0-0 | head -n $((lines + 1)) | bad "bad.links:$((lines + 1)) is the first line without a counterpart"
wrong() { # TEXT OPTION...
  text=$1
  shift
  expect_usage_error "$text" tx-train --src train.en --tgt train.de --vocab bpe.model --preset toy \
    --layers 1 --heads 2 -o bad "$@"
}
wrong '--guided-head 1.0: the model has no such layer; choose one from 0 to 0' \
  --guided-alignment moved.links --guided-head 1.0
wrong '--guided-head 0.2: the model has no such head; choose one from 0 to 1' \
  --guided-alignment moved.links --guided-head 0.2
wrong '--guided-head x: give LAYER.HEAD, such as 0.0' \
  --guided-alignment moved.links --guided-head x
wrong '--guided-shift needs --guided-alignment' --guided-shift
