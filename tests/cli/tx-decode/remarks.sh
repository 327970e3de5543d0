# Suspicious outputs: a state of the line, and one warning per kind.
make_model model
printf 'w5 w6\nw5 w6\n\n' > in
expect_status 0 tx-decode -m model --status records in
expect_stderr_contains 'tx-decode: 2 outputs with a loop (--no-repeat blocks repeated n-grams), the first on line 1'
expect_stderr_contains 'tx-decode: 2 outputs cut at the maximum length (--max-extra), the first on line 1'
[ "$(sed 1d records | cut -f 2 | tr '\n' ' ')" = 'maximum,loop maximum,loop empty ' ] || fail 'states'
expect_status 0 tx-decode -m model --no-repeat 1 in
expect_stderr_lacks 'with a loop'
expect_status 0 tx-decode -m model -q in
expect_empty_stderr
# No warnings about given translations.
expect_status 0 tx-decode -m model --tgt in in
expect_empty_stderr
# An output that ends like its source.
printf 'w10 w11 w12 w13 w14 w15\tw20 w11 w12 w13 w14 w15\n' > in
expect_status 0 tx-decode -m model --prefix --max-extra 0 --min-length 6 --status records in
expect_stderr_contains 'tx-decode: 1 output ending in the last words of the source, perhaps not translated, the first on line 1'
