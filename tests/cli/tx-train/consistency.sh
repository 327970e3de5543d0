# --consistency: resumes bit-identically, does not depend on recomputation, and is logged.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
same_weights() { # RUN STEP REASON
  [ "$(weights_hash "$1/model-$2.safetensors")" = "$(weights_hash "$mode/model-$2.safetensors")" ] || fail "$mode: $3"
}
for mode in simcut rdrop; do
  small_train --consistency $mode --dropout 0.1 --steps 9 --log-every 3 -o $mode 2> run.log ||
    fail "$(cat run.log)"
  grep -q ", consistency loss [0-9]" run.log || fail "$(cat run.log)"
  [ "$(grep -c '"consistency_loss":[0-9]' $mode/log.jsonl)" = 3 ] || fail "$(cat $mode/log.jsonl)"
  small_train --consistency $mode --dropout 0.1 --steps 3 -o resumed 2> run.log || fail "$(cat run.log)"
  expect_status 0 tx-train --resume resumed --steps 9
  same_weights resumed 9 "the resumed run differs"
  small_train --consistency $mode --dropout 0.1 --steps 9 --recompute -o recomputed 2> run.log ||
    fail "$(cat run.log)"
  same_weights recomputed 9 "--recompute changes it"
  small_train --consistency $mode --dropout 0.1 --steps 9 --consistency-weight 1 -o other 2> run.log
  ! (same_weights other 9 "the weight matters") 2> message || fail "--consistency-weight has no effect"
  rm -rf resumed recomputed other
done
small_train --consistency simcut --dropout 0 --cutoff 0 --steps 3 --log-every 1 -o same 2> run.log
grep -q '"consistency_loss":0[.,]' same/log.jsonl ||
  grep -q '"consistency_loss":-\{0,1\}[0-9.]*e-' same/log.jsonl || fail "two equal passes differ: $(cat same/log.jsonl)"
small_train --consistency simcut --cutoff 0.5 --steps 3 -o cut 2> run.log
! cmp -s cut/model-3.safetensors same/model-3.safetensors || fail "--cutoff has no effect"
small_train --consistency simcut --precision bf16 --steps 3 --log-every 1 -o short 2> run.log || fail "$(cat run.log)"
grep -q '"consistency_loss":[0-9.]' short/log.jsonl || fail "$(cat short/log.jsonl)"

# The kinds with one text.
for kind in decoder encoder; do
  tx-train --preset toy --kind $kind --src train.en --vocab words --consistency rdrop --steps 2 --log-every 1 \
    -o $kind 2> run.log || fail "$kind: $(cat run.log)"
  grep -q '"consistency_loss":[0-9.]' $kind/log.jsonl || fail "$kind: $(cat $kind/log.jsonl)"
done

refused "--cutoff" --cutoff 0.1
refused "--consistency simcut" --consistency rdrop --cutoff 0.1
refused "--consistency" --consistency-weight 2
refused "--guided-alignment" --consistency rdrop --guided-alignment links
