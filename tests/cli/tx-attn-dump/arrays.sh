# A file of arrays: the same bytes for any number of threads, no temporary files, no file after a
# failure, and memory that does not grow with the text.
make_model model
awk 'BEGIN { for (i = 0; i < 300; ++i) { for (j = 0; j <= i % 9; ++j) printf "w%d ", 4 + (i * 7 + j) % 50; print "" } }' > in
expect_status 0 tx-attn-dump -m model --format safetensors -o one --threads 1 --tgt in in
expect_empty_stdout
expect_empty_stderr
expect_status 0 tx-attn-dump -m model --format safetensors -o three --threads 3 --tgt in in
expect_same one three
expect_status 0 tx-attn-dump -m model --format safetensors --dtype f16 -o half --tgt in in
[ "$(wc -c < half)" -lt "$(wc -c < one)" ] || fail 'f16 is no smaller'
grep -q '"300.weights.cross":{"dtype":"F16","shape":\[2,4,' half || fail 'the header'
[ -z "$(find . -name '.tx-*')" ] || fail 'temporary files'
expect_status 0 tx-attn-dump -m model --format safetensors -o none < /dev/null
expect_file none

# Records to a file.
expect_status 0 tx-attn-dump -m model -o records.jsonl --tgt in in
expect_empty_stdout
[ "$(wc -l < records.jsonl)" -eq 300 ] || fail 'records in a file'

# A failure leaves no file.
printf 'w5\n\377\n' > odd
expect_status 1 tx-attn-dump -m model --format safetensors -o failed --strict odd
expect_no_file failed
[ -z "$(find . -name '.tx-*')" ] || fail 'temporary files after a failure'

# Nor does a signal.
mkfifo slow
env --default-signal tx-attn-dump -m model --format safetensors -o ended < slow &
tool=$!
exec 3> slow
printf 'w5\n' >&3
until [ -n "$(find . -name '.tx-*')" ]; do
  kill -0 $tool || fail 'the tool ended before the signal'
  sleep 0.02
done
kill -s TERM $tool
status=0
wait $tool || status=$?
exec 3>&-
[ "$(kill -l $status)" = TERM ] || fail "status $status"
[ -z "$(find . -name '.tx-*')" ] || fail 'temporary files after a signal'

# 16 times as many lines take at most 3 MiB more.
peak_of() { # FILE
  tx-attn-dump -m model --format safetensors -o large --tgt "$1" "$1" &
  watch_memory $!
  wait $!
}
cat in in in in in in in > short
cat short short short short short short short short > double
cat double double > long
peak_of short
small=$peak
peak_of long
[ $small -gt 0 ] && [ $((peak - small)) -lt 3072 ] || [ "$TX_SANITIZE" = ON ] || fail "from $small to $peak KiB"
