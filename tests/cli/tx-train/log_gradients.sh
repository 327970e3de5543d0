# --log-gradients: a norm for each layer every --log-every steps; it changes no weight.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train --layers 2 --norm-position pre --steps 10 --log-every 4 -o plain 2> run.log || fail "$(cat run.log)"
small_train --layers 2 --norm-position pre --steps 10 --log-every 4 --log-gradients -o logged 2> run.log ||
  fail "$(cat run.log)"
for step in 3 6 9 10; do
  [ "$(weights_hash plain/model-$step.safetensors)" = "$(weights_hash logged/model-$step.safetensors)" ] ||
    fail "the weights of step $step differ"
done
! grep -q gradient_norms plain/log.jsonl || fail "gradient norms by layer without --log-gradients"
grep gradient_norms logged/log.jsonl | grep -o '"step":[0-9]*' | xargs > steps
[ "$(cat steps)" = "step:4 step:8" ] || fail "gradient norms at $(cat steps)"
for part in embedding encoder.norm decoder.norm encoder.layers.0 encoder.layers.1 decoder.layers.0 \
  decoder.layers.1; do
  [ "$(grep -c "\"$part\":[0-9.e-]*[,}]" logged/log.jsonl)" = 2 ] || fail "no norm of $part"
done
# Their squares add up to that of the whole gradient's norm.
sed -n 's/.*"gradient_norm":\([^,]*\),.*"gradient_norms":{\([^}]*\)}.*/\1,\2/p' logged/log.jsonl |
  sed 's/"[a-z.0-9]*"://g' |
  awk -F , '{ for (i = 2; i <= NF; ++i) sum += $i ^ 2
              if (NF != 8 || (sum / $1 ^ 2 - 1) ^ 2 > 1e-20) exit 1
              sum = 0; lines++ }
            END { exit lines != 2 }' || fail "$(cat logged/log.jsonl)"

# A resumed run may begin or end to log them.
expect_status 0 tx-train --resume plain --log-gradients --steps 12
grep -q '"step":12,.*"gradient_norms":{"embedding":' plain/log.jsonl || fail "$(tail -n 3 plain/log.jsonl)"
expect_status 0 tx-train --resume plain --no-log-gradients --steps 16
! grep -q '"step":16,.*"gradient_norms"' plain/log.jsonl || fail "$(tail -n 3 plain/log.jsonl)"

# A norm that is not finite is null.
small_train --lr 1e30 --warmup 0 --schedule constant --clip-norm 0 --max-skips 0 --steps 6 \
  --log-gradients -o diverged 2> run.log || true
grep -q '"gradient_norms":{"embedding":null' diverged/log.jsonl || fail "$(cat diverged/log.jsonl)"

expect_status 0 tx-train --report logged plain -o page.html
grep -q '"decoder.layers.1":\[' page.html || fail "the page lacks the layers"
