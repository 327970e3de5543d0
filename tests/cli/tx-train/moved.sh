# A run directory that was moved resumes in its new place, from another directory, without its
# text; if the text must be read again, the message says how to give it.
. "$TX_SOURCE/tests/cli/train.sh"
mkdir home
cd home
small_text
small_train -o run 2> run.log || fail "$(cat run.log)"
cp -a run whole
expect_status 0 tx-train --resume whole --steps 14
small_train --cache ids -o cached 2> run.log || fail "$(cat run.log)"

mkdir ../away
mv run cached ../away
cd ../away
expect_status 0 tx-train --resume run --steps 13
cmp run/train.ids ../home/whole/train.ids || fail 'the ids differ'

# Its ids are missing: the text is needed and is elsewhere.
rm run/train.ids
expect_status 1 tx-train --resume run --steps 14
expect_stderr_contains 'cannot read train.en'
expect_stderr_contains 'give the new path of the text with --src and --tgt'
expect_status 0 tx-train --resume run --steps 14 --src ../home/train.en --tgt ../home/train.de
expect_stderr_contains '--src ../home/train.en is ignored if the tokenised text, train.ids, exists'
cmp run/model-14.safetensors ../home/whole/model-14.safetensors || fail 'the moved run has different bytes'
# Another text is an error.
rm run/train.ids
expect_status 1 tx-train --resume run --steps 15 --src ../home/valid.en --tgt ../home/valid.de
expect_stderr_contains 'valid.en is not the text this run was started with'

# Its shared cache is gone: the ids are written to the run directory.
rm -r ../home/ids
expect_status 0 tx-train --resume cached --steps 13 --src ../home/train.en --tgt ../home/train.de \
  --valid-src ../home/valid.en --valid-tgt ../home/valid.de
expect_file cached/train.ids
expect_file cached/valid.ids
expect_status 0 tx-train --resume cached --steps 14
[ "$(weights_hash cached/model-14.safetensors)" = "$(weights_hash run/model-14.safetensors)" ] ||
  fail 'weights differ from those without a cache'

# The name of a text may be invalid UTF-8.
name=$(printf 'tr\377\\.en')
cp ../home/train.en "$name"
cd ../home
rm -rf run
small_train --src "../away/$name" --tgt train.de -o run 2> run.log || fail "$(cat run.log)"
rm run/train.ids
expect_status 0 tx-train --resume run --steps 13

# The run directory suffices: every other input is gone or has changed, and the working directory
# is another. The whole run is resumed before that.
mkdir ../inputs
cd ../inputs
small_text
yes '0-0' | head -n "$(wc -l < train.en)" > links
small_train --steps 3 -o base 2> run.log || fail "$(cat run.log)"
texts="--src train.en --tgt train.de --valid-src valid.en --valid-tgt valid.de"
small="--threads 1 --precision fp32 --schedule constant --lr 0.001 --warmup 0 --save-every 2"
metric="--valid-metric bleu,loss"
# shellcheck disable=SC2086
expect_status 0 tx-train --init base $texts $small $metric --guided-alignment links --steps 4 -o tuned
echo '{"valid-lines": 7}' > settings
small_train --vocab words $metric --config settings --valid-lines 7 --steps 6 -o words 2> run.log ||
  fail "$(cat run.log)"
(small_texts='--kind decoder --src train.en' && small_train --steps 3 -o base2) 2> run.log || fail "$(cat run.log)"
mkdir whole away
cp -a tuned words whole
expect_status 0 tx-train --resume whole/tuned --steps 8
expect_status 0 tx-train --resume whole/words --steps 12
mv tuned words away
rm -r base train.* valid.* bpe.model links settings
check_away() { # the resumed run, in another directory with other texts of the same names
  rm -rf tuned words
  cp -a ../away/* .
  expect_status 0 tx-train --resume tuned --steps 8
  expect_status 0 tx-train --resume words --steps 12
  for run in tuned words; do
    for model in $run/model-*; do expect_same "$model" "../whole/$model"; done
    [ "$(grep -c validation_bleu $run/log.jsonl)" -ge 3 ] || fail "$(cat $run/log.jsonl)"
  done
  expect_status 0 tx-train --parity --resume tuned
}
mkdir elsewhere
cd elsewhere
check_away
printf 'one\n' | tee train.en train.de valid.en valid.de links bpe.model > settings
cp -a ../base2 base
check_away
# More lines than were translated are there, too.
expect_status 0 tx-train --resume words --valid-lines 0 --steps 14
# A text given again is compared with the one of the run.
expect_status 1 tx-train --resume tuned --steps 9 --valid-src valid.en --valid-tgt valid.de
expect_stderr_contains 'the first lines of valid.en or valid.de changed since this run was started'
