# The examples that train work with few steps, and resume when they run again in their directory.
# TX_MULTI30K=DIR uses the real texts for multi30k.sh; the default is number words.
examples=$TX_SOURCE/examples
if [ -z "${TX_MULTI30K-}" ]; then
  sh "$examples/number_words.sh" 300 20 20 numbers
  TX_MULTI30K=$PWD/data
  mkdir data
  for part in train:train val:valid test_2016_flickr:test; do
    for side in en de; do
      cp "numbers/${part#*:}.$side" "data/${part%:*}.lc.norm.tok.$side"
    done
  done
fi

# trained RUN: the step of its newest checkpoint
trained() { readlink "$1/last.safetensors"; }

small="--batch-tokens 600 --threads 1"
expect_status 0 sh "$examples/multi30k.sh" "$TX_MULTI30K" 2 multi30k $small
expect_stdout_contains BLEU
[ "$(trained multi30k/run)" = model-2.safetensors ] || fail "$(trained multi30k/run)"
grep -qE '"warmup": 1(,|$)' multi30k/run/config.json || fail 'a run of 2 steps has the warm-up of 3,500'
expect_status 0 sh "$examples/multi30k.sh" "$TX_MULTI30K" 2 multi30k $small
expect_stderr_contains "resuming multi30k/run; to start over, remove it: rm -r 'multi30k/run'"
expect_stderr_contains "nothing to do"
expect_stdout_contains BLEU
expect_status 2 env PRESET=tiny sh "$examples/multi30k.sh" "$TX_MULTI30K" 4 multi30k --seed 2
for line in 'now  preset=tiny' 'then preset=modern' 'then steps=2' 'now  options=--seed 2'; do
  expect_stderr_contains "  $line"
done
rm -r multi30k/run # as the message says
expect_status 0 sh "$examples/multi30k.sh" "$TX_MULTI30K" 1 multi30k $small
[ "$(trained multi30k/run)" = model-1.safetensors ] || fail "$(trained multi30k/run)"
expect_status 2 sh "$examples/multi30k.sh" "$TX_MULTI30K" 1 other --no-such-option
expect_no_file other/model.safetensors
expect_status 0 env FROM=de TO=en sh "$examples/multi30k.sh" "$TX_MULTI30K" 1 back $small
expect_stdout_contains BLEU
expect_file back/hyp.en

# Other files in the directory are kept.
mkdir reverse
echo mine > reverse/notes
for _ in once again; do
  expect_status 0 sh "$examples/reverse_task.sh" reverse 3
  expect_stdout_contains "words: "
  expect_stdout_contains " of 500 reversed"
done
[ "$(cat reverse/notes)" = mine ] || fail "the notes are gone"

# The model of demo.sh is small enough for a package. With Multi30k it runs multi30k.sh.
expect_status 0 sh "$examples/demo.sh" demo 2
expect_stdout_contains " of 1000 correct"
size=$(wc -c < demo/demo.safetensors)
[ "$size" -le 1000000 ] || fail "demo.safetensors has $size bytes"
mkdir text
echo mine > text/train.en
expect_status 1 sh "$examples/demo.sh" text 2
expect_stderr_contains 'text contains a text of yours'
[ "$(cat text/train.en)" = mine ] || fail 'the text is overwritten'
expect_status 0 sh "$examples/demo.sh" "$TX_MULTI30K" 1 multi30k $small
expect_stderr_contains "nothing to do"
expect_stdout_contains BLEU
