# --status: a record per line, to a file or descriptor: every column, every state.
make_model model
printf 'w5 w6\n\nw9\n' > in
expect_status 0 sh -c 'tx-decode -m model --status 3 --scores < in 3> records'
expect_stdout_lines 3
[ "$(wc -l < records)" -eq 4 ] || fail 'not a header and three records'
[ "$(sed -n 1p records | tr '\t' ' ')" = \
  'line state source_pieces output_pieces replaced score log_p milliseconds' ] || fail 'the header'
last_stdout | cut -f 1,2 > scores
sed 1d records | cut -f 6,7 > found
expect_same scores found
sed -n 3p records | grep -q "$(printf '^2\tempty\t0\t0\t0\t')" || fail 'the empty line'

# All states, single and combined; every ill-formed sequence counts. With --max-extra 0 outputs of
# random weights reach the maximum length.
printf 'w5 \377 w6 \355\240\200\n \t\nw5 w6 w7 w8 w9\nw5\n\377w5 w6 w7\n' > in
expect_status 0 tx-decode -m model --max-length 3 --max-extra 0 --status records < in
expect_stdout_lines 5
sed 1d records | cut -f 1-3,5 | tr '\t' ' ' > found
sed 's/,maximum / /; s/ maximum / ok /' found > states
cat > wanted <<'END'
1 replaced,cut,unknown 4 4
2 empty 0 0
3 cut 5 0
4 ok 1 0
5 replaced,unknown 3 1
END
expect_same wanted states
grep -q 'maximum' found || fail 'no line has the state maximum'
awk -F '\t' 'NR > 1 && $2 ~ /maximum/ && $4 != ($3 > 3 ? 3 : $3) { exit 1 }' records ||
  fail 'an output with the state maximum has another length'
awk -F '\t' 'NF != 8 || NR > 1 && $8 !~ /^[0-9]+\.[0-9]$/ { exit 1 }' records || fail 'milliseconds'

# Columns 4, 6 and 7 agree with the output; only the last column varies between runs.
expect_status 0 tx-decode -m model --max-length 3 --max-extra 5 --ids --scores --status one \
  --threads 1 <<'END'
5 6 7

59
END
last_stdout | awk -F '\t' '{ print split($3, pieces, " ") "\t" $1 "\t" $2 }' > wanted
sed 1d one | cut -f 4,6,7 > found
expect_same wanted found
printf '5 6 7\n\n59\n' | tx-decode -m model --max-length 3 --max-extra 5 --ids --status two \
  --threads 3 --batch-tokens 1 > out
cut -f 1-7 one > wanted
cut -f 1-7 two > found
expect_same wanted found

# A failure to write the status is an error.
if [ -e /dev/full ]; then
  expect_status 1 sh -c 'tx-decode -m model --status 3 < in 3> /dev/full'
  expect_stderr_contains 'cannot write descriptor 3: No space left on device'
fi

# Usage errors do not truncate the file; records must not go to standard output.
echo precious > records
expect_status 2 tx-decode -m model --status records --memory 1K in
expect_status 1 tx-decode -m missing --status records in
expect_status 1 tx-decode -m model --status records missing
[ "$(cat records)" = precious ] || fail 'the file was truncated'
for place in - 1; do
  expect_usage_error 'standard output is for the translations' tx-decode -m model --status $place in
done
