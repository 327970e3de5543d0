# --latency-ms: lines that come one by one are gathered; what has come is answered in time.
make_model model
printf 'w5 w6\nw7\nw8 w9\n' > in
tx-decode -q -m model in > wanted
expect_status 0 tx-decode -q -m model --latency-ms 300 in
expect_stdout_file wanted
mkfifo to from
tx-decode -q -m model --latency-ms 400 --status records < to > from &
exec 3> to 4< from
printf 'w5 w6\n' >&3
read -r first <&4
[ "$first" = "$(sed -n 1p wanted)" ] || fail 'another answer'
printf 'w7\n' >&3
sleep 0.1
printf 'w8 w9\n' >&3
read -r second <&4
read -r third <&4
exec 3>&- 4<&-
wait
printf '%s\n' "$first" "$second" "$third" > out
expect_same wanted out
# A line waits its time for others, and those that come in it are answered with it.
awk -F '\t' 'NR == 2 && $8 < 390 || NR == 3 && $8 < 390 || NR == 4 && $8 > before - 80 { exit 1 }
  { before = $8 }' records || fail 'not gathered'
