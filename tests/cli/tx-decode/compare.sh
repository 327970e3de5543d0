# --compare: the report, its figures by hand, and unsupported options.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
train_small run
tx-avg --to int8 -q -o int8 run
decode='tx-decode --max-extra 5 -q'
expect_status 0 $decode -m run --precision fp32 --compare run --compare-precision fp32 train.src
expect_stdout_contains 'A: run in fp32'
expect_stdout_contains '60 lines, equal: 60 (100.0 %)'
expect_stdout_contains 'BLEU of A against B: 100.00'
expect_stdout_contains 'log P of A minus log P of B: mean 0.0000, largest 0.0000'

# The figures agree with the two translations.
$decode --scores -m int8 train.src > a
$decode --scores -m run --precision fp32 train.src > b
{ cat train.src; echo; } > text
expect_status 0 $decode -m int8 --compare run --compare-precision fp32 text
expect_stdout_contains 'A: int8 in int8'
expect_stdout_contains 'B: run in fp32'
equal=$(paste a b | awk -F '\t' '$3 == $6' | grep -c '')
expect_stdout_contains "60 lines, equal: $equal ("
cut -f 3 a > a.text
cut -f 3 b > b.text
expect_stdout_contains "BLEU of A against B: $(tx-bleu --score-only --digits 2 b.text < a.text)"
largest=$(paste a b | awk -F '\t' '{ d = $2 - $5; if (d < 0) d = -d; if (d > most) { most = d; n = NR } }
  END { printf "line %d,", n }')
expect_stdout_contains "$largest"
awk 'BEGIN { exit !(ARGV[1] > 0) }' "$(paste a b | awk -F '\t' '$2 != $5' | grep -c '')" ||
  fail 'int8 changes nothing'

# Lines too short for 4-grams: BLEU of the existing orders.
printf 'w1\nw2\n' > short
for extra in 1 2; do
  expect_status 0 tx-decode -q --max-extra 0 --max-length $extra -m run --compare run short
  expect_stdout_contains '2 lines, equal: 2 (100.0 %)'
  expect_stdout_contains 'BLEU of A against B: 100.00'
done

expect_status 0 $decode -m run --compare int8 < /dev/null
expect_stdout_contains 'no lines to translate'
expect_usage_error '--compare cannot be used with --scores' tx-decode -m run --compare int8 --scores
for option in --word-scores --json '--nbest 2' '--latency-ms 5'; do
  expect_usage_error "--compare cannot be used with ${option%% *}" \
    tx-decode -m run --compare int8 $option
done
expect_usage_error '--compare-precision' tx-decode -m run --compare-precision fp32
expect_status 1 tx-decode -m run --compare nowhere train.src
expect_stderr_contains 'nowhere'

# --prefix and --constraints apply to both models; malformed lines are errors as without --compare.
awk '{ print $0 "\t" $1 }' train.src > prefixed
expect_status 0 $decode -m run --precision fp32 --prefix --compare run --compare-precision fp32 prefixed
expect_stdout_contains '60 lines, equal: 60 (100.0 %)'
$decode -m run --precision fp32 --prefix prefixed > plain
$decode -m int8 --prefix prefixed > small
equal=$(paste plain small | awk -F '\t' '$1 == $2' | grep -c '' || true)
expect_status 0 $decode -m run --precision fp32 --prefix --compare int8 prefixed
expect_stdout_contains "60 lines, equal: $equal ("
printf 'a\tb\tc\n' > columns
expect_status 1 $decode -m run --prefix columns
last_stderr > wanted
expect_status 1 $decode -m run --prefix --compare int8 columns
expect_same "$TX_LAST/stderr" wanted

# Options without effect.
expect_usage_error '--compare cannot be used with --alignments' \
  tx-decode -m run --compare run --alignments pieces short

# A language model's continuation is cut at --stop, as it is printed.
make_model lm kind decoder
printf 'w5 w6\n' > prompt
tx-decode -q -m lm --max-new 6 prompt > whole
stop=$(awk '{ print $3 }' whole)
tx-decode -q -m lm --max-new 6 --stop "$stop" prompt > cut
expect_status 0 tx-decode -q -m lm --max-new 6 --stop "$stop" --compare lm prompt
expect_stdout_contains "  A: $(cat cut)"
expect_stdout_lacks "$stop"
