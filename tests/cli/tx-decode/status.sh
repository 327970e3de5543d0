# A record a line, to a file or an open descriptor.
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
