# --valid-metric bleu, chrf: scores equal those of tx-decode --beam 1 and tx-bleu for the saved
# model and select the best; a run stopped while it translates resumes bit-identically.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
printf '\n  \n' >> valid.en # blank lines count as empty translations,
printf 'null\nzwei\n' >> valid.de
# and so does a pair that --max-length drops: the first lines of the files are taken as they are.
awk 'NR == 3 { for (i = 0; i < 90; ++i) printf "one "; print; next } { print }' valid.en > long.en
mv long.en valid.en
seen() { small_train --max-length 80 --valid-metric chrf,bleu,loss "$@"; }

# logged STEP FIELD: prints it, rounded to two digits.
logged() { printf '%.2f' "$(sed -n "s/.*\"step\":$1,.*\"$2\":\([^,}]*\).*/\1/p" run/log.jsonl)"; }
for lines in 0 17; do
  rm -rf run
  seen --valid-lines $lines --steps 60 --save-every 20 --log-every 60 --threads 2 -o run \
    2> run.log || fail "$(cat run.log)"
  [ $lines -eq 0 ] || { head -n $lines valid.en > some.en && head -n $lines valid.de > some.de; }
  [ $lines -ne 0 ] || { cp valid.en some.en && cp valid.de some.de; }
  for step in 20 60; do
    tx-decode --beam 1 --precision fp32 -m run/model-$step.safetensors < some.en > out 2> /dev/null
    for metric in bleu chrf; do
      wanted=$(tx-bleu --force --metric $metric --score-only --width 2 some.de < out)
      [ "$(logged $step validation_$metric)" = "$wanted" ] ||
        fail "step $step, $lines lines: $metric is $(logged $step validation_$metric), not $wanted"
    done
  done
done
grep -q ', bleu [0-9.]*, chrf [0-9.]*$' run.log || fail "$(cat run.log)"
best=$(readlink run/best.safetensors | tr -dc 0-9)
highest=$(sed -n 's/.*"step":\([0-9]*\),.*"validation_chrf":\([^,]*\),.*/\2 \1/p' run/log.jsonl |
  sort -s -k 1,1gr | sed -n '1s/.* //p')
[ "$best" = "$highest" ] || fail "the best is $best, the highest chrF has $highest"
tx-avg --best 1 -o average run 2> average.log || fail "$(cat average.log)"
grep -q "model-$best.safetensors" average.log || fail "$(cat average.log)"

# Another number of lines resets the best; another text is an error.
expect_status 0 tx-train --resume run --valid-lines 9 --steps 80
expect_stderr_contains 'compared by chrf of 9 lines instead of chrf of 17 lines'
cp valid.de valid.good
sed 1s/^/x/ valid.good > valid.de
expect_status 1 tx-train --resume run --steps 100
expect_stderr_contains 'changed since this run was started'
cp valid.good valid.de

# Killed anywhere, and stopped while it translates: bit-identical to the uninterrupted run.
rm -rf run
whole_run --max-length 80 --valid-metric chrf,bleu --threads 1
stop_at model:2 state:3 links:2
for delay in 0.4 0.8 1.2; do
  runner=exec
  begin_run &
  runner=
  sleep $delay
  kill -s TERM $! 2> /dev/null || true
  wait $! || true
  finish_run "TERM after $delay s"
done

# A text that can only be read once, and options without effect.
mkfifo pipe
refused '--valid-metric chrf reads the text twice, but pipe is not a regular file' \
  --valid-metric chrf --valid-src pipe
refused '--valid-lines needs --valid-metric bleu or chrf' --valid-lines 3
