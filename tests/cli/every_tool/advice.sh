# Advice that a message gives - a number, an option or a command - works: following it succeeds.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
awk 'BEGIN { for (i = 0; i < 20; ++i) printf "one two three "; print "" }' > long.en
echo eins > long.de
cat valid.en long.en > mixed.en
cat valid.de long.de > mixed.de

# follow TEXT EDIT COMMAND...: COMMAND fails with a message that contains TEXT. With the words added
# that sed's EDIT makes of the message, it succeeds. Runs are written to `run`.
follow() {
  text=$1 edit=$2
  shift 2
  rm -rf run
  status=0
  "$@" > "$TX_LAST/stdout" 2> "$TX_LAST/stderr" || status=$?
  [ $status -eq 1 ] || [ $status -eq 2 ] || fail "status $status: $*"
  expect_stderr_contains "$text"
  words=$(last_stderr | sed -n "$edit" | head -n 1)
  [ -n "$words" ] || fail "no advice: $*"
  rm -rf run
  eval "set -- \"\$@\" $words"
  expect_status 0 "$@"
}
train() { small_train --steps 1 --save-every 1 -o run "$@"; }
describe() { tx-train --describe --threads 1 --preset toy "$@"; }

# The least batch holds the longest pair of both texts, whatever the ratio of their sides.
minimum='s/.*the minimum is \(--batch-tokens [0-9]*\).*/\1/p'
follow 'is too small for the pair of line' "$minimum" train --batch-tokens 8
mixed="--valid-src mixed.en --valid-tgt mixed.de"
# shellcheck disable=SC2086  # several words
follow 'is too small for the pair of line 81' "$minimum" train --batch-tokens 60 $mixed
least=${words#* }
# shellcheck disable=SC2086
expect_status 2 train --batch-tokens $((least - 1)) $mixed
# shellcheck disable=SC2086
expect_status 0 train --batch-tokens auto --memory 1G $mixed -o auto
(
  small_texts="--kind decoder --src train.en --valid-src long.en"
  follow 'sentences of' "$minimum" train --batch-tokens 20 --context 60
)

# Memory.
memory='s/.*give \(--memory [0-9]*M\).*/\1/p'
follow 'cannot hold the longest sentence pair' "$memory" train --batch-tokens auto --memory 2M
follow 'cannot hold --batch-tokens 5000' "$memory" train --batch-tokens 5000 --memory 20M
follow 'cannot hold --batch-tokens 50000' 's/.*or \(--batch-tokens auto\).*/\1/p' train \
  --batch-tokens 50000 --memory 50M
expect_status 2 train --batch-tokens 5000 --memory 2M # auto does not fit either
expect_stderr_lacks auto
follow 'cannot hold the longest sentence pair' "$memory" describe --kind decoder --context 32768 \
  --batch-tokens auto --memory 300M
small_train --steps 1 --save-every 1 -o first 2> run.log || fail "$(cat run.log)"
follow 'cannot hold the batches of this run' "$memory" tx-train --resume first --steps 2 --memory 2M
follow 'cannot hold a line of --max-length' 's/.*\(--memory [0-9]*M\) would fit.*/\1/p' \
  tx-decode -m first --threads 1 --memory 3M valid.en
follow 'cannot hold --batch-tokens' 's/.*or \(--batch-tokens [0-9]*\), which fits.*/\1/p' \
  tx-decode -m first --threads 1 --batch-tokens 1000000 --memory 200M valid.en

# Shapes.
follow 'must be even' 's/.*use \([0-9]*\)$/--d-model \1/p' describe --heads 4 --d-model 101
for shape in '--d-model 100 --heads 8' '--d-model 36 --heads 8 --positions rotary' \
  '--d-model 60 --heads 8 --kv-heads 2' '--d-model 64 --heads 8 --kv-heads 5'; do
  # shellcheck disable=SC2086
  follow 'does not divide' 's/.*use \(--[a-z-]* [0-9]*\).*/\1/p' describe $shape
done
follow 'is too small: the longest sentence' 's/.*give \(--max-positions [0-9]*\).*/\1/p' train \
  --positions learned --max-positions 5
for side in en de; do
  sed 's/ /\n/g' train.$side | LC_ALL=C sort -u | { printf 'tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n'; cat; } > words.$side
done
apart() {
  tx-train --src train.en --tgt train.de --vocab-src words.en --vocab-tgt words.de --preset toy \
    --steps 1 --save-every 1 --threads 1 -o run "$@"
}
follow 'use --tie target' 's/.*use \(--tie target\).*/\1/p' apart --tie all
for head in 7.0 0.9 x; do
  follow "--guided-head $head" 's/.*such as \([0-9.]*\)$/--guided-head \1/p
    s/.*no such layer; choose one from \([0-9]*\) to.*/--guided-head \1.0/p
    s/.*no such head; choose one from .* to \([0-9]*\)$/--guided-head 0.\1/p' \
    describe --guided-alignment train.en --guided-head $head
done

# Schedules and limits.
follow 'needs --lr' 's/.*for instance \(--lr [0-9.]*\).*/\1/p' describe --preset base --schedule linear
follow 'reaches 0 at the last step' 's/.*such as \(--schedule [a-z]*\)$/\1/p' describe \
  --schedule linear --steps 0 --epochs 1
beam='s/.*give \(--beam [0-9]*\).*/\1/p'
follow 'needs a beam' "$beam" tx-decode -m first --nbest 5 valid.en
follow 'needs a beam' 's/.*or \(--nbest [0-9]*\)$/\1/p' tx-decode -m first --nbest 5 valid.en
follow 'needs a beam' "$beam" tx-decode -m first --nbest 5 --beam 4 --diversity 1 --groups 2 valid.en
follow 'needs at least as many' 's/.*give \(--samples [0-9]*\)$/\1/p' tx-decode -m first --sample \
  --mbr bleu --samples 2 --nbest 3 valid.en
follow 'is too small: the special tokens' 's/.*need at least \([0-9]*\).*/--vocab-size \1/p' \
  tx-bpe train --vocab-size 200 -o small.model train.en
follow 'holds only' 's/.*use \(--[a-z]* [0-9]*\)$/\1/p' tx-avg --last 9 -o mean first

# Pages.
make_model tiny
yes 'w5 w6' | head -n 12000 > lines
expect_status 1 tx-attn-dump -m tiny --html page.html lines
eval "$(last_stderr | sed -n 's/.*for example with \(head -n [0-9]*\)$/\1/p') lines > fewer"
expect_status 0 tx-attn-dump -m tiny --html page.html fewer
awk 'BEGIN { for (i = 0; i < 60; ++i) printf "w5 "; print "" }' > line
make_model large d_model 512 heads 8
for edit in 's/.*give \(--html-limit [0-9]*\).*/\1/p' 's/.*give \(--what weights\)$/\1/p'; do
  follow 'too small for the first sentence' "$edit" tx-attn-dump -m large --html page.html \
    --html-limit 1 --tgt line line
done
follow 'increase it' 's/.*the page needs \([0-9]*\) MB.*/--html-limit \1/p' tx-attn-dump -m large --live \
  --html page.html --html-limit 1
follow 'the page needs' 's/.*use \(--weights int8\)$/\1/p' tx-attn-dump -m large --live \
  --html page.html --html-limit 12 --weights f16
yes 'w5 w6' | head -n 2000 > lines
expect_status 1 tx-attn-dump -m tiny --live --html page.html lines
eval "$(last_stderr | sed -n 's/.*for example with \(head -n [0-9]*\)$/\1/p') lines > fewer"
expect_status 0 tx-attn-dump -m tiny --live --html page.html fewer

# Commands can be pasted into a shell, whatever the names.
name="it's a run"
# hint FILE: executes the command of the last line that gives one.
hint() { eval "$(sed -n 's/.*with: \(tx-[a-z]* .*\)/\1/p' "$1" | tail -n 1) $2"; }
small_train --steps 2 --save-every 1 -o "$name" 2> run.log || fail "$(cat run.log)"
hint run.log '< valid.en > translated 2> decode.log' || fail "$(cat decode.log)"
[ "$(wc -l < translated)" -eq 40 ] || fail "$(cat run.log)"
runner=exec
small_train --steps 0 --minutes 1 -o "$name 2" 2> stopped.log &
runner=
until [ -e "$name 2/model-3.safetensors" ]; do sleep 0.05; done
kill $!
wait $! || true
hint stopped.log '--minutes 0 --steps 3 2> resumed.log' || fail "$(cat resumed.log)"
expect_status 2 small_train -o "$name"
follow_resume=$(last_stderr | sed -n 's/.*resume it with \(--resume .*\), or.*/\1/p')
eval "tx-train $follow_resume --steps 3" 2> resumed.log || fail "$(cat resumed.log)"
sed 's/[a-z]/ж/g' train.en > "x 'y.en"
tx-train --src "x 'y.en" --tgt train.de --vocab bpe.model --preset toy --steps 1 --threads 1 -o other \
  2> fit.log || fail "$(cat fit.log)"
eval "$(sed -n 's/.*on this text: \(tx-bpe train .*\)/\1/p' fit.log | head -n 1) --vocab-size 300" \
  2> bpe.log || fail "$(cat fit.log bpe.log)"
iconv -f UTF-8 -t UTF-16 train.en > 'tr ain.16'
expect_status 1 tx-bpe encode -m bpe.model 'tr ain.16'
eval "$(last_stderr | sed -n 's/.*to a file (\(.*\) > TEXT).*/\1/p')" > text || fail "$(last_stderr)"
expect_same text train.en
