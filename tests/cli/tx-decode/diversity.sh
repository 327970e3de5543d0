# --diversity: the groups of diverse beam search differ; scores are the model's.
make_model model
awk 'BEGIN { for (i = 0; i < 20; ++i) { for (j = 0; j <= i % 6; ++j)
  printf "w%d ", 4 + (i * 31 + j * 17) % 56; print "" } }' > in
first_words() { awk -F '\t' '{ split($5, w, " "); if (!(($1, w[1]) in seen)) ++n; seen[$1, w[1]] } END { print n }'; }
tx-decode -m model --beam 6 --nbest 6 --max-extra 3 in > plain
expect_status 0 tx-decode -m model --beam 6 --nbest 6 --max-extra 3 --diversity 2 --precision fp32 in
last_stdout > diverse
[ "$(first_words < diverse)" -gt "$(first_words < plain)" ] || fail 'not more first words'
awk -F '\t' '$2 > 1 && $3 > last { exit 1 } { last = $3 }' diverse || fail 'not the best first'
expect_status 0 tx-decode -m model --beam 6 --nbest 6 --max-extra 3 --diversity 2 --groups 3 in
expect_status 0 tx-decode -m model --beam 6 --nbest 6 --max-extra 3 --diversity 2 --groups 1 in
expect_stdout_file plain
expect_status 0 tx-decode -m model --beam 6 --diversity 2 --groups 3 --no-repeat 2 --check-invariance in
expect_usage_error '--beam 4 is not a multiple of --groups 3' \
  tx-decode -m model --diversity 1 --groups 3 in
expect_usage_error '--groups needs --diversity' tx-decode -m model --groups 2 in
expect_usage_error '--diversity cannot be used with --sample' tx-decode -m model --diversity 1 --sample in

# --alternatives: as many outputs, each from another first word on, also behind a prefix.
expect_status 0 tx-decode -m model --alternatives 5 --max-extra 3 in
expect_stdout_lines 100
[ "$(last_stdout | first_words)" -eq 100 ] || fail 'first words are repeated'
last_stdout | awk -F '\t' '$2 > 1 && $3 > last { exit 1 } { last = $3 }' || fail 'not the best first'
awk '{ print $0 "\tw9 w10" }' in > begun
expect_status 0 tx-decode -m model --alternatives 3 --prefix --max-extra 3 begun
[ "$(last_stdout | awk -F '\t' '{ split($5, w, " "); if (w[1] != "w9" || w[2] != "w10") exit 1
  if (!(($1, w[3]) in seen)) ++n; seen[$1, w[3]] } END { print n }')" -eq 60 ] || fail 'behind a prefix'
expect_status 0 tx-decode -m model --alternatives 3 --check-invariance in
expect_usage_error '--alternatives cannot be used with --nbest' tx-decode -m model --alternatives 3 --nbest 2 in
