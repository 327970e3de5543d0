# The scripts of examples/paper that need no long training: whole runs on number words, and
# resuming.
paper="$TX_SOURCE/examples/paper"
sh "$TX_SOURCE/examples/number_words.sh" 300 20 30 .
wmt14() {
  sh "$paper/wmt14.sh" . wmt VALID=valid TEST=test VOCAB=300 AVERAGE=2 SAVE=2 RATE=2 \
    OPTIONS='--preset toy --threads 1 --batch-tokens 200' STEPS="$1"
}
expect_status 0 wmt14 4
expect_stdout_contains 'valid: BLEU|nrefs:1|bs:1000|'
expect_stdout_contains 'test: BLEU|nrefs:1|bs:1000|'
# The same FLOPs as tx-train counts, to three digits.
flops=$(last_stderr | sed -n 's/.* tokens, \(.*\) product FLOPs counted from shapes.*/\1/p')
printed=$(last_stdout | sed -n 's/^cost: 4 steps, \(.*\) product FLOPs, .*/\1/p')
awk -v a="$flops" -v b="$printed" 'BEGIN { exit !(b > 0 && a / b > 0.99 && a / b < 1.01) }' ||
  fail "$printed FLOPs instead of $flops"
expect_stdout_contains '; time x rate: '
expect_status 0 wmt14 6
expect_stderr_contains 'resuming wmt/run after step 4'
expect_stdout_contains 'cost: 6 steps, '
expect_status 2 sh "$paper/wmt14.sh" . wmt MODEL=small
expect_status 2 sh "$paper/wmt14.sh" . wmt NO=1

mkdir data
for part in train val:valid test_2016_flickr:test; do
  for side in en de; do cp "${part#*:}.$side" "data/${part%:*}.lc.norm.tok.$side"; done
done
lengths() {
  VOCAB=300 sh "$paper/lengths.sh" data lengths SHORT=4 LONG=7 KINDS='learned none' TO=en \
    STEPS="$1" BASE='--preset toy --threads 1 --batch-tokens 200' DECODE='--beam 1'
}
expect_status 0 lengths 3
expect_stdout_lines 4
last_stdout > table
grep -q '^| learned | [0-9.]* | [0-9.]* | [0-9.]* |$' table || fail 'no row of learned positions'
[ "$(awk '{ if (NF > m) m = NF } END { print m }' lengths/train.en)" -eq 4 ] || fail 'not 4 words'
[ "$(awk '!m || NF < m { m = NF } END { print m }' lengths/long.en)" -eq 7 ] || fail 'not 7 words'
expect_status 0 lengths 3
expect_stdout_file table

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
mkdir runs && cp lengths/bpe.model runs
expect_status 0 runs
expect_stdout_lines 5
last_stdout > table
grep -q '^| plain | [0-9.]* | [0-9.]* | [0-9.]* | [0-9.]* | [0-9.]*, [0-9.]* | [0-9.]* | [0-9.]* |$' table ||
  fail "no row of a model: $(cat table)"
grep -q '^| greedy ' table || fail 'no row of the other search'
grep -q '^| diverges | tx-train: ' table || fail "no row of the failed training: $(cat table)"
[ "$(ls -d runs/model*/1/run | wc -l)" -eq 2 ] || fail 'searches do not share a model'
expect_status 0 runs
expect_stdout_file table
for part in train test_2016_flickr; do
  for side in en de; do cp "data/$part.lc.norm.tok.$side" "data/$part.$side"; done
done
sed -i 3d list
sed -i 3d list
mkdir raw && cp runs/bpe.model raw
expect_status 0 sh "$paper/runs.sh" data raw STEPS=2 VALID=train FORM= SCORE= \
  BASE='--preset toy --threads 1 --batch-tokens 200' < list
expect_stdout_lines 3
grep -q '"tok": "none"' runs/model/1/search/test_2016_flickr.json || fail 'tokenised text is tokenised again'
grep -q '"tok": "13a"' raw/model/1/search/test_2016_flickr.json || fail 'raw text is not tokenised'
