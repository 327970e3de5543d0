# A language model continues its lines: as many lines out as in, batch-invariant; stop strings;
# streaming.
make_model model kind decoder layers 2
printf 'w5 w6 w7\n\nw8\nw9 w10 w11 w12 w13 w14 w15 w16 w17 w18 w19 w20\n   \nw5 w6 w7\n' > in
expect_status 0 tx-decode -m model --max-new 6 < in
expect_stdout_lines 6
last_stdout > wanted
awk 'NR == 2 || NR == 5 { if ($0 != "") exit 1 } NR == 1 { first = $0 } NR == 6 && $0 != first { exit 1 }
  NF > 6 { exit 1 }' wanted || fail "$(cat wanted)"
grep -q '^ w' wanted || fail 'the space before the next word is missing'
for how in '--threads 1' '--threads 3 --batch-tokens 20' '--precision fp32 --memory 2G'; do
  # shellcheck disable=SC2086  # a list of words
  expect_status 0 tx-decode -m model --max-new 6 $how < in
  case $how in *fp32*) ;; *) expect_stdout_file wanted ;; esac
done
for how in '' '--beam 1' '--sample --nbest 2' '--precision bf16' '--precision int8'; do
  # shellcheck disable=SC2086
  expect_status 0 tx-decode -m model --max-new 9 --check-invariance $how in
  expect_stdout_contains 'verdict: translations and scores are batch-invariant'
done
expect_status 0 tx-decode -m model --max-new 6 --echo < in
last_stdout > echoed
sed 's/^ *$//' in | paste -d '\0' - wanted > joined
expect_same echoed joined
expect_stderr_lacks 'cut at the longest length' # usual here
expect_status 0 tx-decode -m model --max-new 6 --json --echo < in
expect_stdout_lines 6
last_stdout | sed 's/.*"text":"\([^"]*\)".*/\1/' > texts
expect_same texts joined

# Samples have the scores that scoring gives them.
for models in '-m model' '-m model -m model'; do
  # shellcheck disable=SC2086
  expect_status 0 tx-decode $models --precision fp32 --max-new 6 --sample --nbest 400 < in
  last_stdout > list
  cut -f 1 list | while read -r line; do sed -n "${line}p" in; done > prompts
  cut -f 5 list | sed 's/^ //' > given
  # shellcheck disable=SC2086
  expect_status 0 tx-decode $models --precision fp32 --tgt given < prompts
  last_stdout | paste - list | awk -F '\t' '
    $3 == "" || split($3, out, " ") == 6 { next }
    { d = $2 - $7; if (d < 0) d = -d; if (d > 2e-5) bad = 1; ++whole }
    END { exit bad || whole < 8 }' || fail "$models: scores differ from the search's"
done

# log P of a text is the sum over its tokens.
printf 'w5 w6 w7\n\nw5\n' > texts
expect_status 0 tx-decode -m model --precision fp32 --perplexity < texts
last_stdout > scored
expect_stderr_contains 'tx-decode: log P '
expect_stderr_contains ' over 6 tokens, ends counted: perplexity '
# -q does not suppress the perplexity.
expect_status 0 tx-decode -q -m model --precision fp32 --perplexity < texts
expect_stdout_file scored
expect_stderr_contains ' over 6 tokens, ends counted: perplexity '
printf '\n\n\n' > nothing
expect_status 0 tx-decode -m model --precision fp32 --tgt texts < nothing
expect_stdout_file scored
expect_status 0 tx-decode -m model --precision fp32 --perplexity --tgt texts < nothing
expect_stdout_file scored
expect_stderr_contains ' over 6 tokens, ends counted: perplexity '
expect_status 0 tx-decode -m model --perplexity --check-invariance texts
printf 'w5\n' > begin
printf 'w6 w7\n' > end
printf 'w5 w6 w7\n' > text
expect_status 0 tx-decode -m model --precision fp32 --tgt end < begin
last_stdout > parts
# log P of w5 is log P of the whole minus that of the rest.
expect_status 0 tx-decode -m model --precision fp32 --perplexity text
last_stdout >> parts
expect_status 0 tx-decode -m model --precision fp32 --perplexity --tgt end < begin
expect_stderr_contains ' over 3 tokens, ends counted: perplexity '
awk -F '\t' 'NR == 1 { rest = $2 } NR == 2 && !($2 < rest) { exit 1 }' parts || fail "$(cat parts)"

# --stop: the output ends before the string.
expect_status 0 tx-decode -m model --beam 1 --max-new 12 < in
last_stdout > long
stop=$(awk 'NF > 3 { print $3; exit }' long)
expect_status 0 tx-decode -m model --beam 1 --max-new 12 --stop "$stop" --stop nowhere < in
expect_stdout_lacks "$stop"
last_stdout > stopped
awk -v stop="$stop" '{ at = index($0, stop); print at ? substr($0, 1, at - 1) : $0 }' long > cut
expect_same stopped cut
expect_status 0 tx-decode -m model --beam 4 --max-new 12 --stop "$stop" < in
expect_stdout_lacks "$stop"

# --stream gives the same bytes, line by line.
for how in '--beam 1' "--beam 1 --echo --stop $stop" '--sample --seed 5 --min-p 0.05 --top-p 0.9'; do
  # shellcheck disable=SC2086
  expect_status 0 tx-decode -m model --max-new 12 $how < in
  last_stdout > wanted
  # shellcheck disable=SC2086
  expect_status 0 tx-decode -m model --max-new 12 $how --stream < in
  expect_stdout_file wanted
done
expect_status 0 tx-decode -m model --sample --min-p 1 --max-new 12 < in # only the most probable token
expect_stdout_file long

# Of a prompt that is too long, only the end is used.
printf 'w9 w10 w5 w6\nw5 w6\n' > in
expect_status 0 tx-decode -m model --max-length 2 < in
expect_stderr_contains '4 tokens, cut to the last 2 (--max-length)'
[ "$(last_stdout | sort -u | wc -l)" -eq 1 ] || fail 'the end of the prompt is not used'

# Learned positions limit prompt and output together.
make_model learned kind decoder positions learned max_positions 16
expect_status 0 tx-decode -m learned --max-new 100 < joined
expect_stdout_lines 6
tx-avg -q --to int8 -o small model
expect_status 0 tx-decode -m small --max-new 5 < in
expect_stdout_lines 2

# Options of another kind of model: the message names option and kind.
make_model translator
make_model guesser kind encoder
expect_usage_error '--max-extra needs a model of kind encoder-decoder: --model model is of kind decoder' \
  tx-decode -m model --max-extra 3 < in
for option in '--max-new 5' '--stop a' --echo '--stream --beam 1'; do
  # shellcheck disable=SC2086
  expect_usage_error "${option%% *} needs a model of kind decoder: --model translator is of kind encoder-decoder" \
    tx-decode -m translator $option < in
done
printf 'w5\tw6\n' > columns
for option in --constraints '--split 3' '--sample --mbr bleu'; do
  name=${option##*--}
  # shellcheck disable=SC2086
  expect_usage_error "--${name%% *} needs a model of kind encoder-decoder: --model model is of kind decoder" \
    tx-decode -m model $option < columns
done
expect_usage_error '--compare translator is not of kind decoder, as model is' \
  tx-decode -m model --compare translator < in
expect_status 0 tx-decode -m model --compare model --max-new 5 < in
expect_stdout_contains '2 lines, equal: 2 (100.0 %)'
expect_usage_error '--stream needs --beam 1, or --sample' tx-decode -m model --stream < in
expect_usage_error '--stop cannot be used with --tgt' tx-decode -m model --stop a --tgt in < in
expect_usage_error '--beam cannot be used with --perplexity' tx-decode -m model --beam 1 --perplexity < in
expect_status 1 tx-decode -m model -m translator < in
expect_stderr_contains 'only models of one kind can be joined'
expect_usage_error '--alignments needs a model of kind encoder-decoder' tx-decode -m model --alignments words < in

# Every space of a prompt stays, and none is doubled.
printf 'w5 w6\n' > in
tx-decode -m model --beam 1 --max-new 5 in > plain
printf ' w5  w6 \n' > in
expect_status 0 tx-decode -m model --beam 1 --max-new 5 --echo in
expect_stdout " w5  w6$(cat plain)"
expect_status 0 tx-decode -m model --beam 1 --max-new 5 --echo --stream in
expect_stdout " w5  w6$(cat plain)"

# Line feeds are spaces in a line, but not in JSON, nor for --stop.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
make_model bytes vocabulary bpe.model kind decoder
awk 'BEGIN { for (i = 0; i < 40; ++i) print " forty  two" }' > in
expect_status 0 tx-decode -m bytes --sample --max-new 40 --json --echo in
last_stdout > json
grep -q '"text":" forty  two[^"]*[^\\]\\n' json || fail 'no line feed'
expect_status 0 tx-decode -m bytes --sample --max-new 40 --echo in
expect_stdout_lines 40
line_feed='
'
expect_status 0 tx-decode -m bytes --sample --max-new 40 --json --stop "$line_feed" in
last_stdout > stopped
! grep -q '"text":"[^"]*[^\\]\\n' stopped || fail 'the line feed does not stop'

# A prompt that ends inside a word is continued there, in any tokens: the texts are those that the
# model continues the whole words with.
small_texts="--src train.de --valid-src valid.de" small_train --kind decoder --steps 150 -o run 2> run.log ||
  fail "$(cat run.log)"
cut -d ' ' -f 1 valid.de | sort -u | grep -E '^[a-z]{6,}$' > words
sed -E 's/[a-z]{2}$//' words > begun
[ "$(wc -l < words)" -ge 8 ] || fail 'too few words'
for way in '--beam 1' '' '--beam 1 --stream' '--sample --top-k 1' '-m run' '--precision int8 --batch-tokens 30'; do
  # shellcheck disable=SC2086
  expect_status 0 tx-decode -q -m run $way --max-new 9 --echo begun
  last_stdout | cut -d ' ' -f 1 > found
  paste words found | awk '$1 == $2 { ++n } END { exit n < 0.7 * NR }' || fail "$way: $(paste words found)"
  last_stdout | paste begun - | awk -F '\t' 'index($2, $1) != 1 { exit 1 }' || fail "$way: not the prompt"
  case $way in
    *stream*) ;;
    *) expect_status 0 tx-decode -q -m run $way --max-new 9 --check-invariance begun ;;
  esac
done
# A whole word keeps its tokens, and scores are those of its continuation alone.
expect_status 0 tx-decode -q -m run --precision fp32 --beam 1 --max-new 3 --scores words
last_stdout > scored
tx-bpe encode -m bpe.model words > pieces
expect_status 0 tx-decode -q -m run --precision fp32 --beam 1 --max-new 3 --scores --pieces pieces
last_stdout | paste scored - | awk -F '\t' '{ d = $2 - $5; n += d * d < 1e-6 } END { exit n < 0.9 * NR }' ||
  fail "$(last_stdout | paste scored -)"
