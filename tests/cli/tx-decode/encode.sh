# A model of kind encoder: a vector per line, or filled masks.
make_model model kind encoder
printf 'w5 w6 w7\n\nw8 w9\nw5 w6 w7\n' > in
expect_status 0 tx-decode -m model --embed mean --precision fp32 < in
expect_stdout_lines 4
last_stdout > mean
awk -F '\t' 'NR == 2 { if ($0 != "") exit 1; next } NF != 32 { exit 1 } NR == 1 { first = $0 }
  NR == 4 && $0 != first { exit 1 }' mean || fail "$(cat mean)"
for how in '--threads 1' '--threads 3 --batch-tokens 1'; do
  # shellcheck disable=SC2086  # a list of words
  expect_status 0 tx-decode -m model --embed mean --precision fp32 $how < in
  expect_stdout_file mean
done
expect_status 0 tx-decode -m model --embed first --precision fp32 < in
! cmp -s mean "$TX_LAST/stdout" || fail 'first is mean'
expect_status 0 tx-decode -m model --embed mean --precision fp32 --vectors vectors.safetensors in
expect_empty_stdout
head -c 400 vectors.safetensors | grep -q '"vectors":{"dtype":"F32","shape":\[4,32\]' ||
  fail "$(head -c 400 vectors.safetensors)"

printf 'w5 <mask> w7 <mask>\n\nw8\n' > masked
expect_status 0 tx-decode -m model --precision fp32 --nbest 5 < masked
expect_stdout_lines 3
last_stdout > filled
awk -F '\t' 'NR == 1 { if (NF != 21) exit 1
    split($1, words, " "); if (words[1] != "w5" || words[2] != $2 || words[3] != "w7" || words[4] != $12) exit 1
    for (i = 3; i <= 11; i += 2) if ($i <= 0 || $i > 1 || (i > 3 && $i > $(i - 2))) exit 1 }
  NR == 2 && $0 != "" || NR == 3 && $0 != "w8" { exit 1 }' filled || fail "$(cat filled)"
expect_status 0 tx-decode -m model --precision fp32 --nbest 5 --batch-tokens 1 < masked
expect_stdout_file filled

expect_usage_error '--beam needs a model of kind encoder-decoder or decoder: --model model is of kind encoder' \
  tx-decode -m model --beam 2 < in
expect_usage_error '--no-json needs a model of kind encoder-decoder or decoder' \
  tx-decode -m model --no-json < in
for n in 1 2; do
  expect_usage_error '--nbest cannot be used with --embed: a line has one vector' \
    tx-decode -m model --embed mean --nbest $n < in
done
expect_usage_error '--vectors needs --embed' tx-decode -m model --vectors x < in
# Several -m are an error, even if a file does not exist.
for other in model nowhere; do
  expect_usage_error '--model is given 2 times, but models of kind encoder are used one at a time' \
    tx-decode -m model -m $other --embed mean in
  expect_usage_error 'are used one at a time' tx-decode -m model -m $other masked
done
make_model translator
expect_usage_error 'are used one at a time' tx-decode -m model -m translator masked
expect_status 1 tx-decode -m translator -m model in
expect_stderr_contains 'only models of one kind can be joined'
expect_status 1 tx-decode -m translator -m nowhere in
expect_stderr_contains 'cannot read nowhere'
expect_usage_error '--embed needs a model of kind encoder: --model translator is of kind encoder-decoder' \
  tx-decode -m translator --embed mean < in
printf 'w5 w6 w7\n' > long
expect_status 0 tx-decode -m model --max-length 2 --embed mean long
expect_stderr_contains 'long:1: 3 tokens, cut to the first 2 (--max-length)'

# A tab in the line does not move the columns.
printf 'w5\t<mask>\n' > tabbed
expect_status 0 tx-decode -m model tabbed
[ "$(last_stdout | awk -F '\t' '{ print NF }')" -eq 3 ] || fail "$(last_stdout)"

# --vectors is written as it is computed: memory does not grow with the text. A device is written too.
awk 'BEGIN { for (i = 0; i < 2000000; ++i) print "" }' > blank
tx-decode -m model --embed mean --vectors large.safetensors blank &
watch_memory $!
wait $! || fail 'many vectors'
[ "$(wc -c < large.safetensors)" -gt 256000000 ] || fail 'not all vectors'
[ "$peak" -lt 100000 ] || [ "$TX_SANITIZE" = ON ] || fail "$peak KiB in memory"
rm large.safetensors
expect_status 0 tx-decode -m model --embed mean --precision fp32 --vectors /dev/stdout in
expect_stdout_file vectors.safetensors
[ -z "$(find . -name '*.tmp')" ] || fail "temporary files left"

# White space around a mask is no token: the mask stands for a token with its space.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
(small_texts='--kind encoder --src train.en --valid-src valid.en' small_train -o run) 2> run.log ||
  fail "$(cat run.log)"
printf 'six <mask> <mask> and nine\nsix<mask><mask>and nine\n' > masked
expect_status 0 tx-decode -m run --nbest 3 masked
[ "$(last_stdout | cut -f 2- | sort -u | wc -l)" -eq 1 ] || fail "$(last_stdout)"
