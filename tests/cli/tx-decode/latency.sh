# --latency-ms: lines that arrive one by one are collected; the end of the input ends the wait.
# The test does not depend on the time of a translation.
make_model model
printf 'w5 w6\nw7\nw8 w9\n' > in
tx-decode -q -m model in > wanted
expect_status 0 tx-decode -q -m model --latency-ms 60000 --status records in
expect_stdout_file wanted
awk -F '\t' 'NR > 1 && $8 >= 60000 { exit 1 }' records || fail 'waits although the input has ended'
mkfifo to from
tx-decode -q -m model --latency-ms 400 --status records < to > from &
exec 3> to 4< from
printf 'w5 w6\n' >&3
read -r first <&4 # while the input is still open
printf 'w7\nw8 w9\n' >&3
read -r second <&4
read -r third <&4
exec 3>&- 4<&-
wait
printf '%s\n' "$first" "$second" "$third" > out
expect_same wanted out
# The first line waits for others.
awk -F '\t' 'NR == 2 && $8 < 399 || NR == 3 && $8 < 399 { exit 1 }' records || fail 'the lines were not collected'
