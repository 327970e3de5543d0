# examples/paper/table1.sh: the fit recovers the law of synthetic times; a whole run with small
# models, and a second call that does not train.
paper="$TX_SOURCE/examples/paper"
awk 'BEGIN {
  OFS = "\t"
  for (d = 64; d <= 256; d *= 2) for (n = 16; n <= 1024; n *= 4) {
    print "all", d, n, (2e-4 * n * n * d + 3e-4 * n * d * d + 0.01 * n * d) / n, 1024
    print "window", d, n, (2e-4 * n * (n < 32 ? n : 32) * d + 3e-4 * n * d * d + 0.5 * n) / n, 512
  }
}' > measured
expect_status 0 awk -v window=32 -v tokens=2048 -f "$paper/solve.awk" -f "$paper/table1.awk" measured
expect_stdout_contains 'Self-attention, ns per sentence: 0.2 n^2 d + 0.3 n d^2 + 10 n d, to 0 %'
expect_stdout_contains 'Restricted to r = 32, ns per sentence: 0.2 n r d + 0.3 n d^2 + 500 n, to 0 %'
expect_stdout_contains 'n^2 d costs as much as n d^2 at n = 1.50 d;'
expect_stdout_contains '| 64 | 16 | 0.033 | 0.031 | 1.0 | 0.5 |'

table1() { sh "$paper/table1.sh" out LENGTHS='16 32 64' WIDTHS=64 TOKENS=128 STEPS=2 WINDOW=8; }
expect_status 0 table1
last_stdout > tables
[ "$(wc -l < out/measured)" -eq 6 ] || fail "$(cat out/measured)"
[ "$(grep -c '^| 64 | [0-9]* | -*[0-9]' tables)" -eq 3 ] || fail 'not one row per length'
cp out/measured before
expect_status 0 table1
expect_stdout_file tables
expect_same before out/measured
expect_status 2 sh "$paper/table1.sh" out NO=1
