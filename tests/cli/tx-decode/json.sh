# --json and --word-scores: one object per line; log P of words sums to that of the line.
make_model model
printf 'w5 w6 w7\n\n\377w8 w9\n' > in
field() { # FILE LINE EXPRESSION: evaluates it for the object d of that line
  python3 -c 'import json, sys
d = json.loads(open(sys.argv[1]).read().splitlines()[int(sys.argv[2]) - 1])
print(eval(sys.argv[3]))' "$@"
}
tx-decode -m model --scores --max-extra 9 in > scored
tx-decode -m model --scores --word-scores --max-extra 9 in > words
cut -f 1-3 words | cmp - scored
awk -F '\t' '{ sum = 0; n = split($4, p, " "); for (i = 1; i <= n; ++i) sum += p[i]
  words = split($3, w, " "); if (n != words && n != words + 1) exit bad = 1
  if (sum - $2 > 1e-4 || $2 - sum > 1e-4) exit bad = 1 }
  NR == 2 && $4 != "" { exit bad = 1 } END { exit bad || NR != 3 }' words || fail 'word scores'
printf 'w5 w6 w7\n\nw8 w9\n' > pieces
expect_status 0 tx-decode -m model --pieces --word-scores --nbest 2 --max-extra 9 pieces
last_stdout | awk -F '\t' 'NF != 6 || $5 != "" && split($6, p, " ") < split($5, w, " ") { exit 1 }' ||
  fail 'not six columns'

if command -v python3 > /dev/null; then
  expect_status 0 tx-decode -m model --json --max-extra 9 in
  expect_stdout_lines 3
  last_stdout > json
  cut -f 3 scored > text
  for n in 1 2 3; do
    [ "$(field json $n 'd["text"]')" = "$(sed -n ${n}p text)" ] || fail "text of line $n"
    [ "$(field json $n 'd["line"]')" = $n ] || fail "number of line $n"
    [ "$(field json $n '"%.6f\t%.6f" % (d["score"], d["log_p"])')" = "$(sed -n ${n}p scored |
      cut -f 1,2)" ] || fail "scores of line $n"
    [ "$(field json $n '" ".join(d["pieces"])')" = "$(sed -n ${n}p text)" ] || fail 'pieces'
    [ "$(field json $n 'abs(sum(d["piece_log_p"]) - d["log_p"]) < 1e-5')" = True ] || fail 'sums'
  done
  [ "$(field json 2 'd["states"]')" = "['empty']" ] || fail 'the blank line'
  [ "$(field json 3 '"replaced" in d["states"]')" = True ] || fail 'the line with odd bytes'
  expect_status 0 tx-decode -m model --json --nbest 3 --word-scores --alignments words in
  last_stdout > json
  [ "$(field json 1 'len(d["nbest"])')" = 3 ] || fail 'the n-best list'
  [ "$(field json 1 'd["nbest"][0]["text"] == d["text"] and d["alignment"] == d["nbest"][0]["alignment"] and len(d["alignment"][0])')" = 2 ] || fail 'links'
  [ "$(field json 1 'len(d["words"]) in (len(d["word_log_p"]), len(d["word_log_p"]) - 1)')" = True ] ||
    fail 'words'
  expect_status 0 tx-decode -m model --json --sample --nbest 2 --threads 2 in
  expect_stdout_lines 3
# log P of an impossible translation is null.
  printf 'w5\nw5\nw5\n' > given
  expect_status 0 tx-decode -m model --json --tgt given in
  last_stdout > json
  [ "$(field json 2 'd["score"]')" = None ] || fail 'minus infinity'
fi
expect_usage_error '--json cannot be used with --scores' tx-decode -m model --json --scores in
