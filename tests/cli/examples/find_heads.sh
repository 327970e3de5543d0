# examples/paper/find_heads.sh: hand-made weights, and the whole script with a model.
find_heads=$TX_SOURCE/examples/paper/find_heads
# Two layers of two heads over four words and </s>; all weights are 0 except those given as lines
# LAYER HEAD ROW COLUMN WEIGHT.
record() { # LINE, weights on standard input
  awk -v text="$1" '
    { x[$1, $2, $3, $4] = $5 }
    END {
      printf "%s\t[", text
      for (l = 0; l < 2; ++l) {
        printf l ? ",[" : "["
        for (h = 0; h < 2; ++h) {
          printf h ? ",[" : "["
          for (i = 0; i < 5; ++i) {
            printf i ? ",[" : "["
            for (j = 0; j < 5; ++j) printf "%s%s", j ? "," : "", x[l, h, i, j] + 0
            printf "]"
          }
          printf "]"
        }
        printf "]"
      }
      print "]}"
    }'
}
{
  printf '1 0 2 0 0.9\n0 1 3 0 0.8\n' | record 'man takes his hat'
  record 'man and boy his' < /dev/null # ambiguous
  printf '1 0 2 0 0.5\n0 1 3 0 0.75\n' | record 'boy sees his dog'
  printf '1 1 1 4 0.9\n' | record 'girl her hat ,' # </s> is no word
} > records
awk -F '\t' -v far=3 -v pairs='his:man,boy her:girl' -f "$find_heads.awk" records > heads.tsv
head_of() { awk -F '\t' -v kind="$1" '$1 == kind && $2 == "'"$2"'" && $3 == "'"$3"'"' heads.tsv; }
printf 'pronoun\t1\t0\t0.9000\t0.2500\t0.0625\t3\tboy sees his dog\this\n' > wanted
head_of pronoun 1 0 > got
expect_same wanted got
# Two of the four words of each line are at that distance from another.
printf 'far\t0\t1\t0.2000\t0.1875\t0.0469\t8\tboy sees his dog\tdog\n' > wanted
head_of far 0 1 > got
expect_same wanted got

# The noun of each pronoun and one of another; a tie counts half. The second line attends to an
# ignored word.
{
  printf '1 0 2 0 0.6\n1 0 2 1 0.2\n0 1 3 0 0.8\n' | record 'man girl his hat'
  printf '1 0 2 0 0.5\n1 0 2 1 0.3\n0 1 3 0 0.8\n' | record 'girl man his hat'
  printf '1 0 2 0 0.4\n1 0 2 1 0.4\n0 1 3 0 0.8\n' | record 'man girl his hat'
  printf '1 0 2 0 0.6\n1 0 2 1 0.2\n' | record 'boy girl his hat'
} > records
awk -F '\t' -v far=3 -v ignored='girl ,' -v pairs='his:man,boy her:girl' -f "$find_heads.awk" \
  records > heads.tsv
printf 'choice\t1\t0\t0.5000\t0.7500\t0.5625\t4\tboy girl his hat\this\n' > wanted
head_of choice 1 0 > got
expect_same wanted got
printf 'content\t0\t1\t0.2667\t0.2000\t0.0500\t7\tman girl his hat\that\n' > wanted
head_of content 0 1 > got
expect_same wanted got

make_model model layers 2 heads 4
printf 'w5 w6 w7 w8 w9\nw6 w5 w9 w8 w7\nw9 w8 w7 w6 w5\nw5 w6 w7 w9 w8\n' > text
expect_status 0 sh "$find_heads.sh" model text out FAR=2 PAIRS='w7:w5,w6 w8:w6'
[ "$(wc -l < "$TX_LAST/stdout")" = 7 ] || fail "wrong table: $(cat "$TX_LAST/stdout")"
for figure in figure3 figure4-top figure4-bottom figure5; do
  [ -s "out/$figure.svg" ] || fail "no $figure"
done
expect_status 2 sh "$find_heads.sh" model text out WRONG=1
expect_stderr_contains "unknown setting 'WRONG=1'"
expect_status 2 sh "$find_heads.sh" model text out FAR
expect_stderr_contains "unknown setting 'FAR'"

# examples/paper/heads_control.sh: checkpoints of a run for each seed, and the table. The
# made sentences have each person first and each pronoun equally often in both halves.
sh "$TX_SOURCE/examples/number_words.sh" 300 20 20 .
control() {
  sh "$TX_SOURCE/examples/paper/heads_control.sh" . control SEEDS='1 2' STEPS='1 3' VALID=valid \
    TEST=test FORM= VOCAB=300 BASE='--preset toy --threads 1'
}
expect_status 0 control
last_stdout > table
number='[0-9.]* ([0-9.]* to [0-9.]*)'
for what in 'attention from a pronoun to its noun' \
  'from a pronoun, more to its noun than to the other'; do
  grep -q "^| coreference | $what | 320 | $number | $number |$" table || fail "$what: $(cat table)"
done
[ "$(ls control/*-[13].safetensors | wc -l)" = 4 ] || fail "$(ls control)"
awk '{ ++n[int((NR - 1) / 2) % 2, / her /, / (woman|girl|lady|mother).* (man|boy|guy|father) /] }
  END { for (k in n) print n[k] }' control/coreference | sort -u > counts
echo 40 | expect_same - counts
