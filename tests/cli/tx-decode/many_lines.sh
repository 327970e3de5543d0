# label: slow
# A million lines through a pipe in constant memory, with limited address space.
make_model model layers 1 d_model 16 d_ff 16 heads 2
count=1000000
lines() { awk -v n="$count" 'BEGIN { for (i = 0; i < n; ++i) print (i % 10 ? "w" 4 + i % 50 : "") }'; }
lines | (
  ulimit -v 3000000
  tx-decode -m model --beam 1 --max-extra 1 --threads 2
) > out
[ "$(wc -l < out)" -eq "$count" ] || fail 'wrong number of lines'
awk 'NR % 10 == 1 && $0 != "" { exit 1 } NR % 10 != 1 && $0 == "" { bad++ }
  END { exit bad > NR / 2 }' out || fail 'lines are not in order'
