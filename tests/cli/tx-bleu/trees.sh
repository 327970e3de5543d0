# Bracketing F1: labelled constituents of tagged and linearised trees, with EVALB's deletions.
cat > ref <<'END'
( (S (NP-SBJ (DT the) (NN cat)) (VP (VBD sat) (PRT (RP down))) (. .)) )
(S (NP XX XX )NP (VP XX (NP XX )NP )VP )S
END
cat > hyp <<'END'
(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat) (ADVP (RB down)) (. .))))
(S (NP XX )NP (VP XX XX (NP XX )NP )VP )S
END
# Line 1: all four match; the full stop does not count. Line 2: S and the last NP of four each.
expect_status 0 tx-bleu --metric f1 --digits 2 ref < hyp
expect_stdout 'F1|nrefs:1|labels:evalb|malformed:miss|version:tx-0.1.0 = 75.00 (P = 75.00 R = 75.00 complete = 50.00 segments = 2 malformed = 0)'
printf '(S (NP (DT a)) (VP (VB b)))\n(S (NP XX )NP (VP XX )NP )S\n' > hyp
expect_status 0 tx-bleu --metric f1 ref < hyp
expect_stdout_contains ' = 0.0 (P = 0.00 R = 0.00 complete = 0.00 segments = 2 malformed = 2)'
printf '(S (NP XX XX )NP (VP XX (NP XX )NP )VP )S\n(S\n' > hyp
sed 1d ref > second
cat second second > ref
expect_status 0 tx-bleu --metric f1 ref < hyp
expect_stdout_contains ' = 66.7 (P = 100.00 R = 50.00 complete = 50.00 segments = 2 malformed = 1)'
expect_status 0 tx-bleu --metric f1 --skip-malformed ref < hyp
expect_stdout_contains ' = 100.0 (P = 100.00 R = 100.00 complete = 100.00 segments = 1 malformed = 1)'
expect_status 1 tx-bleu --metric f1 hyp < hyp
expect_stderr 'tx-bleu: hyp line 2: the reference is not a bracketed tree: "(S" is not closed'
expect_usage_error 'one reference' tx-bleu --metric f1 ref ref < hyp
# A tree with only deleted words is not a segment.
printf '(S (. .))\n(S (NN a))\n' > ref
expect_status 0 tx-bleu --metric f1 ref < ref
expect_stdout_contains ' = 100.0 (P = 100.00 R = 100.00 complete = 100.00 segments = 1 malformed = 0)'
