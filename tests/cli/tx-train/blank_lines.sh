# A line of white space is blank: it separates paragraphs, a pair with such a side is dropped, in
# training, validation and tx-decode --perplexity, and their perplexities are equal.
. "$TX_SOURCE/tests/cli/train.sh"
small_text

# Paragraphs of 10 lines. \343\200\200 is an ideographic space, \302\240 a no-break space.
for kind in '--kind decoder' '--kind encoder' --denoise; do
  rm -rf run-*
  number=0
  for blank in '' ' ' '\t' '\r' '\343\200\200' ' \302\240\t'; do
    awk 'NR % 10 == 0 { print ""; next } { print }' train.en | sed "s/^\$/$(printf "$blank")/" > text
    # shellcheck disable=SC2086
    expect_status 0 tx-train $kind --src text --vocab bpe.model --preset toy --documents paragraphs \
      --context 100 --threads 1 --steps 1 -o run-$number
    [ "$(setting run-$number data)" = "$(setting run-0 data)" ] || fail "$kind: blank line '$blank'"
    number=$((number + 1))
  done
done
pairs=$(grep -ao 'data_pairs[^0-9]*[0-9]*' run-0/model-1.safetensors | tr -dc 0-9)
[ "$pairs" -ge 40 ] || fail "$pairs sequences of 40 paragraphs"
# Per line, such lines are left out; per word and byte they do not count.
expect_status 0 tx-train --kind decoder --src text --valid-src text --vocab bpe.model --preset toy --threads 1 --steps 1 -o lines
expect_stderr_contains 'left out 40 empty lines of 400'
awk 'NR % 10' train.en > full
grep -ao "\"words\":$(wc -w < full),\"bytes\":$(wc -c < full)" lines/valid.ids > found || fail "$(tail -c 500 lines/valid.ids)"

# Pairs.
blanks() { # FILE EVERY: replaces lines by white space
  awk -v every="$2" 'NR % every == 0 { print NR % 2 ? " " : "\t "; next } { print }' "$1" > "$1.new"
  mv "$1.new" "$1"
}
blanks train.en 40
blanks train.de 50
blanks valid.en 7
blanks valid.de 5
small_train --max-length 60 -o run 2> run.log || fail "$(cat run.log)"
grep -q 'dropped 16 pairs of 400: 10 with an empty source, 6 with an empty target' run.log || fail "$(cat run.log)"
grep -q 'dropped 12 pairs of 40: 5 with an empty source, 7 with an empty target' run.log || fail "$(cat run.log)"

# The last figure of the log, to six digits.
same_perplexity() { # RUN OPTION...
  run=$1
  shift
  logged=$(sed -n 's/.*"validation_perplexity":\([0-9.]*\).*/\1/p' "$run/log.jsonl" | tail -n 1)
  expect_status 0 tx-decode -m "$run/last.safetensors" --precision fp32 --threads 1 --perplexity "$@"
  scored=$(sed -n 's/.*perplexity \([0-9.]*\).*/\1/p' "$TX_LAST/stderr")
  awk "BEGIN { exit !(sqrt(($logged - $scored) ^ 2) < 0.00051 + 1e-6 * $logged) }" ||
    fail "perplexity $logged in training, $scored in decoding"
}
same_perplexity run --tgt valid.de valid.en
expect_stderr_contains '; left out 4 lines with a translation of blank text; left out 7 lines with an empty translation'
for side in en de; do tr '\t' ' ' < valid.$side > pairs.$side; done
paste pairs.en pairs.de > pairs
same_perplexity run pairs
# Pairs that --max-length drops.
awk 'NR % 9 == 0 { for (i = 0; i < 70; ++i) printf "one " } { print }' valid.en > long.en
awk 'NR % 11 == 0 { for (i = 0; i < 70; ++i) printf "eins " } { print }' valid.de > long.de
(small_texts='--src train.en --tgt train.de --valid-src long.en --valid-tgt long.de' &&
  small_train --max-length 60 -o long) 2> run.log || fail "$(cat run.log)"
grep -q ' longer than 60 tokens' run.log || fail "$(cat run.log)"
same_perplexity long --max-length 60 --max-extra 0 --tgt long.de long.en
# A language model.
printf ' \n\t\n\n' >> valid.en
(small_texts='--kind decoder --src train.en --valid-src valid.en' && small_train -o language) 2> run.log || fail "$(cat run.log)"
same_perplexity language valid.en
