# A training that diverges says so in numbers that can be read and saved.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train --schedule constant --warmup 0 --lr 10 -o run 2> run.log || fail "$(cat run.log)"
grep -q 'validation loss [0-9.]*, perplexity inf' run.log || fail "$(cat run.log)"
! grep -Eq -e '-nan|[0-9]{12}' run.log || fail "$(cat run.log)"
grep -q '"validation_perplexity":null' run/log.jsonl || fail "$(cat run/log.jsonl)"
head -c 20000 run/last.safetensors | grep -aq 'validation_perplexity\\":null' ||
  fail 'the provenance does not say null'
tx-avg --quiet --last 2 -o mean.safetensors run
