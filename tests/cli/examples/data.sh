# examples/data/check.sh: complete, missing and different texts.
check() { sh "$TX_SOURCE/examples/data/check.sh" data "$@"; }
expect_status 1 check
expect_stderr_contains 'data contains none of the sets'
expect_status 2 check no_such
mkdir -p data/wsj data/wmt14-en-de data/multi30k/data/task1/tok
trees() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; ++i) print "( (S\n  (NP (NN a))) )" }'; }
trees 39832 > data/wsj/train
trees 1700 > data/wsj/dev
trees 2415 > data/wsj/test
expect_status 1 check wsj
expect_stdout 'wsj:
  wsj/test has 2415 lines or trees instead of 2416'
trees 2416 > data/wsj/test
expect_status 0 check wsj
expect_stdout 'wsj: complete'

seq 2737 > data/wmt14-en-de/newstest2014.en
printf '<refset setid="newstest2014">\n<doc>\n<seg id="1">Ja</seg>\n' > data/wmt14-en-de/newstest2014.de
seq 1014 > data/multi30k/data/task1/tok/val.lc.norm.tok.en
expect_status 1 check
expect_stdout_contains '  multi30k/data/task1/tok/train.lc.norm.tok.en is missing'
expect_stdout_contains '  multi30k/data/task1/tok/val.lc.norm.tok.en has the right number of lines, but another SHA-256'
expect_stdout_contains '  wmt14-en-de/newstest2014.en has 2737 lines or trees instead of 3003'
expect_stdout_contains '  wmt14-en-de/newstest2014.de is SGML, not text'
expect_stdout_contains 'wsj: complete'
