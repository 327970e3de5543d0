# --markup: each part of a line once in its output, pairs of tags nested, in any model.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train -o run 2> run.log || fail "$(cat run.log)"
head -n 40 valid.en | awk '{
  n = split($0, w, " ")
  if (NR % 2) w[n] = "<b>" w[n] "</b>"
  w[1] = "<p>" w[1]; w[n] = w[n] "</p>"
  if (NR % 3 == 0) w[1] = w[1] "<br/>"
  if (NR % 4 == 0) w[2] = w[2] " &amp; {x" NR "} https://a.b/" NR
  for (i = 1; i <= n; ++i) printf "%s%s", w[i], i < n ? " " : "\n"
}' > tagged.en
parts() { grep -ao '<[^>]*>\|&amp;\|https://[^ ]*' "$1" | sort; }
for options in '' '--beam 1 --precision int8' '--sample --temperature 2' '--beam 4 --threads 3'; do
  # shellcheck disable=SC2086
  expect_status 0 tx-decode -m run --markup html $options tagged.en
  [ "$(wc -l < "$TX_LAST/stdout")" -eq 40 ] || fail "$options: lines"
  parts tagged.en > wanted
  parts "$TX_LAST/stdout" | cmp - wanted || fail "$options: other parts"
  [ "$(grep -ac '^<p>.*</p>$' "$TX_LAST/stdout")" -eq 40 ] || fail "$options: $(last_stdout)"
done
expect_status 0 tx-decode -m run --markup icu tagged.en
[ "$(grep -c '{x[0-9]*}' "$TX_LAST/stdout")" -eq 10 ] || fail "$(last_stdout)"

# Without markup in it, text is translated as ever, and so is what tags enclose.
tx-decode -m run valid.en > plain
expect_status 0 tx-decode -m run --markup printf valid.en
expect_stdout_file plain
sed 's/^/<i>/; s/$/<\/i>/' valid.en > italic.en
sed 's/^/<i>/; s/$/<\/i>/' plain > italic
expect_status 0 tx-decode -m run --markup html italic.en
expect_stdout_file italic
printf '%s\n' '<hr/>' '' '<a></a>' > only
expect_status 0 tx-decode -m run --markup html only
expect_stdout_file only
printf '%s\n' '<b>' | expect_status 0 tx-decode -m run --markup html --json
expect_stdout_contains '"text":"<b>"'
# A tag whose pair is on another line stays; ensembles and n-best lists have markup, too.
expect_status 0 tx-decode -m run -m run --markup html --nbest 2 tagged.en
[ "$(grep -ac '<p>.*</p>$' "$TX_LAST/stdout")" -eq 80 ] || fail "$(last_stdout)"

printf '%s\n' 'one' '' '(two' > list
expect_status 1 tx-decode -m run --markup list valid.en
expect_stderr_contains 'list:3: the expression "(two" is not supported'
printf '.*\n' > list
expect_status 1 tx-decode -m run --markup list valid.en
expect_stderr_contains 'list:1: ".*" matches any text'
expect_status 2 tx-decode -m run --markup html --prefix valid.en
expect_stderr_contains '--markup cannot be used with --prefix'

# Sentences are translated one by one, and their tags stay with them.
awk '{ print toupper(substr($0, 1, 1)) substr($0, 2) "." }' valid.en > sentences
tx-decode -q -m run sentences > plain
sed 's/.*/<i>&<\/i>/' plain | paste -d ' ' - - > wanted
sed 's/.*/<i>&<\/i>/' sentences | paste -d ' ' - - > italic
expect_status 0 tx-decode -q -m run --markup html --split 1 italic
tr -d ' ' < wanted > closed
tr -d ' ' < "$TX_LAST/stdout" | cmp - closed || fail "--split: $(last_stdout)"
sed 's/$/./' tagged.en | paste -d ' ' - - > pairs
parts pairs > wanted
expect_status 0 tx-decode -m run --markup html --split 5 pairs
parts "$TX_LAST/stdout" | cmp - wanted || fail "--split: other parts"
