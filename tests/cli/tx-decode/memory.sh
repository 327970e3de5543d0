# --memory: the largest batch whose plan fits is used, actual use stays within the plan, and the
# output does not change; for a limit or batch that does not fit, the message names one that does.
[ "$TX_SANITIZE" != ON ] || exit 0 # the sanitizers use more memory
make_model model d_model 32 d_ff 32 heads 2 layers 1
# One line of 2,000 tokens in the middle of a thousand short ones.
awk 'BEGIN { for (i = 0; i < 1001; ++i) { for (j = 0; j < (i == 500 ? 2000 : 1 + i % 9); ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
decode="tx-decode -m model --precision fp32 --max-extra 3 --max-length 2000 --scores --threads 2"
beam="$decode --beam 2"
expect_status 0 $beam < in
last_stdout > wanted

# Too little memory: the amount in the message is enough, and 3 MiB less are not.
expect_usage_error "--memory 5M cannot hold a line of --max-length 2000 on 2 threads" \
  $beam --memory 5M
enough=$(last_stderr | sed -n 's/.*: --memory \([0-9]*M\) would fit it.*/\1/p')
expect_status 0 $beam --memory "$enough" < in
expect_stdout_file wanted
expect_usage_error "--memory $((${enough%M} - 3))M cannot hold" $beam --memory $((${enough%M} - 3))M

# A batch that does not fit: both remedies in the message work, and a slightly larger batch does
# not fit.
limit=$((${enough%M} + 40))M
expect_usage_error "--memory $limit cannot hold --batch-tokens 300000, which needs" \
  $beam --memory "$limit" --batch-tokens 300000
fits=$(last_stderr | sed -n 's/.*or --batch-tokens \([0-9]*\), which fits.*/\1/p')
[ "$fits" -gt 64 ] || fail "$fits tokens"
expect_status 0 $beam --memory "$limit" --batch-tokens "$fits" < in
expect_stdout_file wanted
expect_usage_error "--memory $limit cannot hold --batch-tokens $((fits + 512))" \
  $beam --memory "$limit" --batch-tokens $((fits + 512))
needs=$(last_stderr | sed -n 's/.*which needs \([0-9]*M\):.*/\1/p')
expect_status 0 $beam --memory "$needs" --batch-tokens $((fits + 512)) < in
expect_stdout_file wanted

# Actual use stays within the plan.
for way in "--beam 2" "--sample --nbest 3"; do
  # shellcheck disable=SC2086  # lists of words
  $decode $way --memory "$limit" < in > out &
  watch_memory $!
  wait $! || fail "$way"
  echo "$way: planned up to $limit, used $((peak / 1024))M"
  [ $peak -gt 0 ] && [ $peak -le $((${limit%M} * 1024)) ] || fail "$way: $peak KiB, planned $limit"
done

expect_usage_error "--memory 2X: give a size such as 800M or 2G" $decode --memory 2X
