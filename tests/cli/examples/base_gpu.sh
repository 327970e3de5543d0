# examples/paper/base_gpu.sh on the CPU: compressed texts, ids prepared before, a run that is killed
# and resumed to the same bits, the energy from samples of the power, and the model in parts.
sh "$TX_SOURCE/examples/number_words.sh" 300 20 30 .
xz train.en test.de
base() {
  directory=$1
  shift
  sh "$TX_SOURCE/examples/paper/base_gpu.sh" . "$directory" TO=de VALID=valid DEVICE=cpu VOCAB=300 \
    SAVE=2 AVERAGE=2 DECODE='--beam 2' \
    OPTIONS='--preset toy --schedule paper --warmup 4 --threads 1 --batch-tokens 200' "$@"
}
expect_status 0 base killed PREPARE=1
expect_stdout 'prepared: killed/bpe.model, killed/cache'
expect_no_file killed/run
ids=$(ls -i killed/cache/*)
[ "$ids" ] || fail 'no token ids'
for point in state:2 model:3; do
  export TX_FAILPOINT=$point
  expect_status 137 base killed STEPS=6
  unset TX_FAILPOINT
done
cat > killed/power << 'END'
2026/11/29 23:59:59.000, 100.00
2026/11/29 23:59:59.500, 300.00
2026/11/30 00:00:00.500, 300.00
[N/A]
2026/11/30 00:10:00.500, 500.00
END
expect_status 0 base killed STEPS=6 PARTS=1 RATE=2
expect_stderr_contains 'resuming killed/run after step 4'
for words in 'step 6: perplexity ' 'test: BLEU|nrefs:1|' '| steps | 6 | 100,000 |' \
  '| energy of the GPU | 0.4 kJ, 267 W | |' '| FLOPs, time x rate | '; do
  expect_stdout_contains "$words"
done
expect_stdout_file killed/result
[ "$ids" = "$(ls -i killed/cache/*)" ] || fail 'the ids were made again'
[ "$(ls killed/parts)" = "int8.safetensors.aa
log.jsonl
result
test.de" ] || fail "parts: $(ls killed/parts)"
cat killed/parts/int8.safetensors.* | cmp - killed/int8.safetensors || fail 'the parts are not the model'
mv killed first # a model records the command
expect_status 0 base killed STEPS=6
for file in model.safetensors test.de; do expect_same first/$file killed/$file; done

# A limit of time, and other settings.
expect_status 0 base timed MINUTES=0.05
expect_status 2 base killed STEPS=6 VOCAB=200
expect_stderr_contains '  now  VOCAB=200'
expect_status 2 base killed NO=1
