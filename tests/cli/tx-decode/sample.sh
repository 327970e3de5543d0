# --sample depends on seed and line number; its options need it.
make_model model
printf 'w5 w6\nw5 w6\nw9 w10 w11\n' > in
expect_status 0 tx-decode -m model --sample --seed 7 < in
last_stdout > wanted
[ "$(sed -n 1p wanted)" != "$(sed -n 2p wanted)" ] || fail 'equal lines have the same sample'
expect_status 0 tx-decode -m model --sample --seed 7 --threads 3 --batch-tokens 1 < in
expect_stdout_file wanted
expect_status 0 tx-decode -m model --sample --seed 8 < in
! cmp -s wanted "$TX_LAST/stdout" || fail '--seed changes nothing'
# Sampling from the most probable token is greedy search.
expect_status 0 tx-decode -m model --beam 1 < in
last_stdout > greedy
expect_status 0 tx-decode -m model --sample --top-k 1 < in
expect_stdout_file greedy
expect_status 0 tx-decode -m model --sample --nbest 6 --top-p 0.9 --temperature 0.7 < in
expect_stdout_lines 18
expect_usage_error '--top-k needs --sample: add it, or leave --top-k out' tx-decode -m model --top-k 5 < in
expect_usage_error '--beam cannot be used with --sample' tx-decode -m model --sample --beam 7 < in
expect_usage_error '--temperature needs --sample' tx-decode -m model --temperature 0.5 < in
