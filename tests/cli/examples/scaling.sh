# examples/paper/scaling.sh: the fit recovers the law of synthetic points; a whole run from text to
# tables, and a second call that does not train.
paper="$TX_SOURCE/examples/paper"
expect_no_fit() { # TEXT STATEMENT...
  text=$1
  shift
  awk "BEGIN { FS = OFS = \"\t\" } \$1 == \"point\" { $* } 1" points > changed
  for only in 0 1; do
    expect_status 1 awk -v predict_only=$only -v predicted=1 -f "$paper/solve.awk" \
      -f "$paper/scaling.awk" changed
    expect_empty_stdout
    expect_stderr_contains "$text"
  done
}
awk 'BEGIN {
  OFS = "\t"
  split("32 48 64 96 128", widths, " ")
  for (i = 1; i <= 5; ++i) {
    n = 80 * widths[i] ^ 2
    print "cost", widths[i], n, 3 * n + 12000 * widths[i]
    for (t = 4e6; t < 17e6; t *= 2)
      print "point", widths[i], n, t, 1.2 + 40 / n ^ 0.35 + 900 / t ^ 0.42
  }
  for (pairs = 2000; pairs < 40000; pairs *= 4) print "data", 64, pairs, 10 / pairs ^ 0.1
  n = 80 * 256 ^ 2
  print "predict", 256, n, 16e6
  printf "tested\t256\t%.9f\n", 1.2 + 40 / n ^ 0.35 + 900 / 16e6 ^ 0.42
}' > points
expect_status 0 awk -v predict_only=1 -f "$paper/solve.awk" -f "$paper/scaling.awk" points
last_stdout > predicted # 1.2 + 0.1779 + 0.8482
expect_stdout 2.2261
expect_status 0 awk -v predicted="$(cat predicted)" -f "$paper/solve.awk" -f "$paper/scaling.awk" points
expect_stdout_contains 'E = 1.200 ± 0.000, a = 0.350 ± 0.000, b = 0.420 ± 0.000,'
expect_stdout_contains 'A = 40, B = 900; '
# 0.42 / (0.35 + 0.42) without the output projection, which makes it slightly larger.
expect_stdout_contains 'N grows as FLOPs^0.56'
expect_stdout_contains 'Width 64: loss falls as pairs^-0.100 ± 0.000'
expect_stdout_contains '| 256 | 5242880 | 1.6e+07 | 2.226 ± 0.000 | 2.226 | 0.0 % |'
# Losses that no law fits, that do not depend on the size, and too few widths.
each_row expect_no_fit << 'END'
'$5 = 3' => power law
'$5 += NR' => power law
'$5 = 1 + 900 / $4 ^ 0.42' => power law
'$5 = "nan"' => power law
'if ($2 > 64) next' => at least 4 WIDTHS
END

sh "$TX_SOURCE/examples/number_words.sh" 300 20 20 .
scaling() {
  sh "$paper/scaling.sh" out train.en train.de valid.en valid.de WIDTHS='16 32 48 64' TEST=80 \
    PARTS='2 4 8' PART_WIDTHS=16 STEPS=32 BATCH=200 LAYERS=1 VOCAB=300
}
# So few steps give no law, so the logs get the losses of one.
scaling > first 2>&1 || grep -q 'power law' first || fail "$(cat first)"
rm -rf out/predicted out/width80
for width in 16 32 48 64; do
  n=$(sed -n "s/^cost\t$width\t\([0-9]*\)\t.*/\1/p" out/table*)
  awk -v n="$n" '{ sub(/"validation_loss":[0-9.]*/, "\"validation_loss\":" 1.2 + 40 / n ^ 0.35 + 9 / NR ^ 0.4) }
    1' out/width$width/run/log.jsonl > log
  mv log out/width$width/run/log.jsonl
done
expect_status 0 scaling
last_stdout > tables
expect_stdout_contains '± '
expect_stdout_lacks nan
[ "$(grep -c '^point' out/table)" -eq 12 ] || fail 'not three points per width'
[ "$(grep -c '^| 16 | [0-9]* | [0-9.]* |$' tables)" -eq 3 ] || fail 'not three runs on parts'
# N excludes the embedding, 300 x 16.
n=$(sed -n 's/^cost\t16\t\([0-9]*\)\t.*/\1/p' out/table)
total=$(sed -n 's/^  total  *\([0-9]*\)$/\1/p' out/width16/describe)
[ $((total - n)) -eq 4800 ] || fail "$total parameters, $n of them without embeddings"
grep -q "predict	80	" out/table || fail 'no prediction'
[ out/predicted -ot out/width80/done ] || fail 'the prediction is newer than the run'
expect_status 0 scaling
expect_stdout_file tables
expect_stderr "scaling: predicted loss of width 80: $(cat out/predicted)"
expect_status 2 sh "$paper/scaling.sh" out a b c d NO=1
