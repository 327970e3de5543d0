# examples/paper/parse.sh and trees.awk: trees to sequences and back, trees from malformed
# sequences, and a whole run from trees to F1.
paper="$TX_SOURCE/examples/paper"
trees() { awk -v what="$1" -f "$paper/trees.awk" "$2"; }
close_trees() { awk -v what=close -v trees="$1" -f "$paper/trees.awk"; }

# As the Penn Treebank prints them, with traces, functions and outermost brackets.
cat > treebank << 'END'
( (S
    (NP-SBJ-1 (DT The) (NN cat) )
    (VP (VBZ sits)
      (S (NP-SBJ (-NONE- *-1) ) (VP (TO to) (VP (VB rest) )))
      (PRN (-LRB- -LRB-) (ADVP=2 (RB here) )(-RRB- -RRB-) ))
    (. .) ))
(TOP (NP (NNP Yes)))
END
expect_status 0 trees words treebank
expect_stdout <<'END'
The cat sits to rest -LRB- here -RRB- .
Yes
END
expect_status 0 trees labels treebank
expect_stdout <<'END'
(S (NP XX XX )NP (VP XX (S (VP XX (VP XX )VP )VP )S (PRN XX (ADVP XX )ADVP XX )PRN )VP XX )S
(NP XX )NP
END
expect_status 0 trees tree treebank
cat > wanted <<'END'
(S (NP (DT The) (NN cat)) (VP (VBZ sits) (S (VP (TO to) (VP (VB rest)))) (PRN (-LRB- -LRB-) (ADVP (RB here)) (-RRB- -RRB-))) (. .))
(NP (NNP Yes))
END
expect_stdout_file wanted
mv wanted whole
trees labels whole > sequences
expect_status 0 close_trees whole < sequences # lossless
expect_stdout_file whole
printf '(S (NP (NN a))\n' > open
expect_status 1 trees tree open
expect_stderr_contains 'unbalanced brackets'

# Malformed sequences: an inner constituent left open, a closing label that matches none, surplus
# and missing words, an empty line, words without brackets.
for _ in 1 2 3 4 5 6; do echo '(S (NP (DT a) (NN b)) (VP (VBZ c)))'; done > three
cat > broken << 'END'
(S (NP XX (PP XX )NP (VP XX )VP )S
(S (NP XX XX )ADJP )NP (VP XX )VP )S
(S (NP XX XX )NP (VP XX XX XX )VP )S
(S (NP XX )NP (VP

XX (NP XX )NP XX
END
expect_status 0 close_trees three < broken
expect_stdout <<'END'
(S (NP (DT a) (PP (NN b))) (VP (VBZ c)))
(S (NP (DT a) (NN b)) (VP (VBZ c)))
(S (NP (DT a) (NN b)) (VP (VBZ c)))
(S (NP (DT a)) (NN b) (VBZ c))
(S (DT a) (NN b) (VBZ c))
(S (DT a) (NP (NN b)) (VBZ c))
END

# A small treebank.
awk 'BEGIN { for (i = 0; i < 200; ++i) {
  np = "(NP (DT the) (NN " (i % 3 ? "cat" : "dog") "))"
  if (i % 5 == 0) np = "(NP " np " (PP (IN of) (NP (NNP Y" i % 7 ")))" ")"
  print "( (S " np " (VP (VBZ sees) (NP (NNP Y" i % 11 "))) (. .)))"
} }' > all
head -n 150 all > train
sed -n 151,170p all > dev
sed -n 171,200p all > test
parse() {
  sh "$paper/parse.sh" out train dev test STEPS="$1" AVERAGE=2 VOCAB=300 BASE='--preset toy' \
    OPTIONS='--layers 1 --threads 1 --batch-tokens 500 --warmup 50' DECODE='--beam 2'
}
expect_status 0 parse 120
expect_stdout_contains 'sequences changed to close them: '
expect_stdout_contains ' of 30'
expect_stdout_contains "(out/settings)"
grep '^closed: ' "$TX_LAST/stdout" > closed
grep -q 'segments = 30 malformed = 0)' closed || fail "$(cat closed)"
f1=$(sed -n 's/.* = \([0-9.]*\) (μ.*/\1/p' closed)
awk -v f1="$f1" 'BEGIN { exit !(f1 > 50) }' || fail "F1 is $f1 after 120 steps"
trees words out/out.tree > words
expect_same out/test.words words
expect_status 2 parse 121
expect_stderr_contains '  then STEPS=120'
expect_status 0 parse 120
expect_stderr_contains 'resuming out/run'
expect_status 2 sh "$paper/parse.sh" out train dev
expect_status 2 sh "$paper/parse.sh" out train dev test NO=1
