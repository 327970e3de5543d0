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
