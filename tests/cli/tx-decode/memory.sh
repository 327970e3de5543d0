# --memory: the batch is the largest whose plan fits, the plan holds, and the text stays the same; a
# limit or a batch that does not go together is an error that names what would do.
[ "$TX_SANITIZE" != ON ] || exit 0 # the sanitizers have memory of their own
make_model model d_model 32 d_ff 32 heads 2 layers 1
# One line of 2,000 tokens in the middle of a thousand short ones.
awk 'BEGIN { for (i = 0; i < 1001; ++i) { for (j = 0; j < (i == 500 ? 2000 : 1 + i % 9); ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
decode="tx-decode -m model --precision fp32 --max-extra 3 --max-length 2000 --scores --threads 2"
beam="$decode --beam 2"
expect_status 0 $beam < in
last_stdout > wanted

# Too little: what the message names is enough, with one or two mebibytes to spare.
expect_usage_error "--memory 5M is too little for a line of --max-length 2000 on 2 threads" \
  $beam --memory 5M
enough=$(last_stderr | sed -n 's/.*: --memory \([0-9]*M\) would fit it.*/\1/p')
expect_status 0 $beam --memory "$enough" < in
expect_stdout_file wanted
expect_usage_error "--memory $((${enough%M} - 3))M is too little" $beam --memory $((${enough%M} - 3))M

# A batch that does not fit: both ways out are as the message says, and a batch of some mebibytes
# more does not fit.
limit=$((${enough%M} + 40))M
expect_usage_error "--memory $limit is too little for --batch-tokens 300000, which needs" \
  $beam --memory "$limit" --batch-tokens 300000
fits=$(last_stderr | sed -n 's/.*or --batch-tokens \([0-9]*\), which fits.*/\1/p')
[ "$fits" -gt 64 ] || fail "$fits pieces"
expect_status 0 $beam --memory "$limit" --batch-tokens "$fits" < in
expect_stdout_file wanted
expect_usage_error "--memory $limit is too little for --batch-tokens $((fits + 512))" \
  $beam --memory "$limit" --batch-tokens $((fits + 512))
needs=$(last_stderr | sed -n 's/.*which needs \([0-9]*M\):.*/\1/p')
expect_status 0 $beam --memory "$needs" --batch-tokens $((fits + 512)) < in
expect_stdout_file wanted

# The plan holds.
for way in "--beam 2" "--sample --nbest 3"; do
  # shellcheck disable=SC2086  # lists of words
  $decode $way --memory "$limit" < in > out &
  watch_memory $!
  wait $! || fail "$way"
  echo "$way: planned up to $limit, used $((peak / 1024))M"
  [ $peak -gt 0 ] && [ $peak -le $((${limit%M} * 1024)) ] || fail "$way: $peak KiB, planned $limit"
done

expect_usage_error "--memory 2X: give a size such as 800M or 2G" $decode --memory 2X
