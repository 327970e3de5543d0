# The scripts of examples/paper that need no long training: whole runs on number words, and
# resuming.
paper="$TX_SOURCE/examples/paper"
sh "$TX_SOURCE/examples/number_words.sh" 300 20 30 .
wmt14() {
  sh "$paper/wmt14.sh" . wmt VALID=valid TEST=test VOCAB=300 AVERAGE=2 SAVE=2 RATE=2 \
    OPTIONS='--preset toy --threads 1 --batch-tokens 1200' STEPS="$@"
}
expect_status 0 wmt14 4
expect_stdout_contains 'valid: BLEU|nrefs:1|bs:1000|'
expect_stdout_contains 'test: BLEU|nrefs:1|bs:1000|'
grep -c 'tok:13a|compounds:split|' "$TX_LAST/stdout" > split
[ "$(cat split)" -eq 2 ] || fail 'the scores of split compounds are missing'
hash=$({ cat wmt/settings && echo STEPS=4; } | sha256sum | cut -c 1-12)
expect_stdout_contains "settings: $hash (wmt/settings, STEPS=4)"
# The same FLOPs as tx-train counts, to three digits.
flops=$(last_stderr | sed -n 's/.* tokens, \(.*\) product FLOPs counted from shapes.*/\1/p')
printed=$(last_stdout | sed -n 's/^cost: 4 steps, \(.*\) product FLOPs, .*/\1/p')
awk -v a="$flops" -v b="$printed" 'BEGIN { exit !(b > 0 && a / b > 0.99 && a / b < 1.01) }' ||
  fail "$printed FLOPs instead of $flops"
expect_stdout_contains '; time x rate: '
expect_status 0 wmt14 6 TOKENIZER=cat
expect_stdout_contains 'test, as in the paper: BLEU|nrefs:1|bs:1000|'
expect_stdout_contains 'tok:none|compounds:split|'
expect_stderr_contains 'resuming wmt/run after step 4'
expect_stdout_contains 'cost: 6 steps, '
# Other settings, texts or fewer steps are refused by name.
expect_status 2 wmt14 6 OPTIONS='--preset tiny'
expect_stderr_contains 'wmt contains results of other settings:
  now  OPTIONS=--preset tiny
  then OPTIONS=--preset toy --threads 1 --batch-tokens 1200
'
cp valid.de kept
echo mehr >> valid.de
expect_status 2 wmt14 6
expect_stderr_contains "  now  valid.de: sha256 $(sha256sum < valid.de | cut -c 1-64)"
mv kept valid.de
expect_status 2 wmt14 4
expect_stderr_contains "wmt/run already has 6 steps, more than 4; remove it to start over: rm -r 'wmt/run'"
rm wmt/settings
expect_status 1 wmt14 6
expect_stderr_contains 'wmt contains runs, but no record of their settings'
expect_status 1 sh "$paper/wmt14.sh" nowhere other
expect_stderr_contains 'nowhere/train.en is missing; see examples/data/README.md'

# English-French has a vocabulary of 32,000 and big its dropout; LAUNCH starts tx-train.
mkdir big small
cp wmt/bpe.model big
cp wmt/bpe.model small
for text in train valid test; do cp $text.de $text.fr; done
echo 'echo "$@" > call; false' > launch
french() {
  sh "$paper/wmt14.sh" . "$@" TO=fr VALID=valid TEST=test MODEL=big LAUNCH='sh launch'
}
expect_status 1 french big
grep -q '^tx-train --describe --preset big --dropout 0.1 --src ' call || fail "$(cat call)"
grep -qx VOCAB=32000 big/settings || fail "$(cat big/settings)"
expect_status 1 french small OPTIONS='--dropout 0.2'
grep -q '^tx-train --describe --preset big --src .* --dropout 0.2$' call || fail "$(cat call)"

# The plan's refusal, and a full disk.
expect_status 2 sh "$paper/wmt14.sh" . plan VALID=valid TEST=test VOCAB=300 OPTIONS='--heads 7'
expect_stderr_contains 'tx-train: '
mkdir bin
printf '#!/bin/sh\necho\necho disk 9000 8000 1000 89%% /data\n' > bin/df
chmod +x bin/df
expect_status 1 env PATH="$PWD/bin:$PATH" sh "$paper/wmt14.sh" . full VALID=valid TEST=test VOCAB=300
expect_stderr_contains 'wmt14.sh: /data needs 3.7 GB for 7 checkpoints'
expect_no_file full/run
expect_status 2 sh "$paper/wmt14.sh" . wmt MODEL=small
expect_status 2 sh "$paper/wmt14.sh" . wmt NO=1

mkdir data
for part in train val:valid test_2016_flickr:test; do
  for side in en de; do cp "${part#*:}.$side" "data/${part%:*}.lc.norm.tok.$side"; done
done
lengths() {
  sh "$paper/lengths.sh" data lengths SHORT=4 LONG=7 KINDS='learned none' TO=en VOCAB=300 \
    STEPS="$1" BASE='--preset toy --threads 1 --batch-tokens 200' DECODE='--beam 1'
}
expect_status 0 lengths 3
expect_stdout_lines 6
last_stdout > table
grep -q '^| learned | [0-9.]* | [0-9.]* | [0-9.]* | [0-9.]* |$' table || fail 'no row of learned positions'
[ "$(awk '{ if (NF > m) m = NF } END { print m }' lengths/train.en)" -eq 4 ] || fail 'not 4 words'
[ "$(awk '!m || NF < m { m = NF } END { print m }' lengths/long.en)" -eq 7 ] || fail 'not 7 words'
expect_status 0 lengths 3
expect_stdout_file table
expect_status 2 lengths 4
expect_stderr_contains '  then STEPS=3'

expect_status 0 sh "$paper/cached.sh" lengths/none test.en cached
tokens=$(wc -w < cached/out)
expect_stdout_contains "30 sentences, $tokens tokens"
[ "$(wc -l < cached/prefixes)" -eq "$tokens" ] || fail 'not every prefix was scored'
[ "$(wc -l < cached/scores)" -eq "$tokens" ] || fail 'not every prefix was scored'
expect_status 2 sh "$paper/cached.sh" lengths/none

# A table of models: one that trains, one with another search, one that diverges; and raw text.
printf '%s\n' '# models' 'plain |' 'greedy | | --beam 1' 'diverges | --lr 1e30 --clip-norm 0' > list
runs() {
  sh "$paper/runs.sh" data runs STEPS=4 AVERAGE=2 "$@" VALID=train < list \
    BASE='--preset toy --threads 1 --batch-tokens 200 --save-every 2 --schedule constant --warmup 0 --max-skips 2'
}
expect_status 0 runs VOCAB=300
expect_stdout_lines 7
expect_file "$(ls runs/cache/*)"
last_stdout > table
grep -q '^| plain | 0.25 | [0-9.]* | [0-9.]* | [0-9.]* | [0-9.]*, [0-9.]* | [0-9.]* | [0-9.]* |$' table ||
  fail "no row of a model: $(cat table)"
grep -q '^| greedy ' table || fail 'no row of the other search'
grep -q '^| diverges | tx-train: ' table || fail "no row of the failed training: $(cat table)"
[ "$(ls -d runs/model*/1/run | wc -l)" -eq 2 ] || fail 'searches do not share a model'
[ "$(cut -f 1,2 runs/seeds.tsv | tr '\t\n' ' /')" = 'model seed/plain 1/greedy 1/' ] ||
  fail "seeds.tsv: $(cat runs/seeds.tsv)"
expect_status 0 runs VOCAB=300
expect_stdout_file table
expect_status 2 runs VOCAB=300 STEPS=5
expect_stderr_contains 'runs contains results of other settings:
  now  STEPS=5
  then STEPS=4
use another directory, or remove it: '"rm -r 'runs'"
for part in train test_2016_flickr; do
  for side in en de; do cp "data/$part.lc.norm.tok.$side" "data/$part.$side"; done
done
sed -i 3d list
sed -i 3d list
expect_status 0 sh "$paper/runs.sh" data raw STEPS=2 VALID=train FORM= SCORE= VOCAB=300 \
  BASE='--preset toy --threads 1 --batch-tokens 200' < list
expect_stdout_lines 5
grep -q '"tok": "none"' runs/model/1/search/test_2016_flickr.json || fail 'tokenised text is tokenised again'
grep -q '"tok": "13a"' raw/model/1/search/test_2016_flickr.json || fail 'raw text is not tokenised'

# Differences between models: with 4 degrees of freedom p of t = 1.225 is 0.288, of t = 3 0.040.
{
  printf 'model\tseed\tperplexity\ttest\n'
  for row in 'a 1 1 1' 'a 2 2 2' 'a 3 3 3' 'b 1 2 11' 'b 2 3 12' 'b 3 4 13' 'c 1 3.45 2' \
    'd 1 3.449 1' 'd 2 4.449 2' 'd 3 5.449 3'; do
    echo "$row" | tr ' ' '\t'
  done
} > seeds.tsv
awk -f "$paper/compare.awk" seeds.tsv > compared
printf '%s\n' '| a | 3 | 2.00 | | | | 2.0 | | | |' \
  '| b | 3 | 3.00 | +1.00 | 0.288 | 0.288 | 12.0 | +10.0 | < 0.001 | < 0.001 |' \
  '| c | 1 | 3.45 | +1.45 |  |  | 2.0 | +0.0 |  |  |' \
  '| d | 3 | 4.45 | +2.45 | 0.040 | 0.080 | 2.0 | +0.0 | 1.000 | 1.000 |' > wanted
sed 1,2d compared | cmp wanted - || fail "compare.awk: $(cat compared)"
