# A diverging run logs and saves readable numbers; invalid learning rates are errors.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train --schedule constant --warmup 0 --lr 10 -o run 2> run.log || fail "$(cat run.log)"
grep -q 'validation loss [0-9.]*, perplexity inf' run.log || fail "$(cat run.log)"
! grep -Eq -e '-nan|[0-9]{12}' run.log || fail "$(cat run.log)"
grep -q '"validation_perplexity":null' run/log.jsonl || fail "$(cat run/log.jsonl)"
head -c 20000 run/last.safetensors | grep -aq 'validation_perplexity\\":null' ||
  fail 'the provenance has no null'
tx-avg --quiet --last 2 -o mean.safetensors run

for option in '--beta1 1' '--beta2 1' '--beta1 -0.1' '--beta2 2' '--epsilon 0' '--epsilon -1' \
  '--lr 0' '--lr -1' '--lr nan' '--lr 1e999' '--lr-factor 0' '--clip-norm -1' '--max-skips -1' \
  '--spike-floor nan'; do
  # shellcheck disable=SC2086  # two words
  refused "${option% *}" $option
done
