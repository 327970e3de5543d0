# --report: content of the page, and errors.
mkdir run
printf '{"command":"tx-train --seed 1","options":{"seed":1,"src":["a"]}}\n' > run/config.json
printf '%s\n' '{"step":0,"checkpoint":"model-0.safetensors","seconds":0.1}' \
  '{"step":1,"epoch":1,"loss":4.5,"perplexity":null,"learning_rate":0.1,"gradient_norm":2,"tokens_per_second":10,"tokens":5,"skipped":0,"seconds":1}' \
  '{"step":1,"validation_score":3,"seconds":1.5}' > run/log.jsonl
printf '{"step":2,"ep' >> run/log.jsonl # an incomplete last line
data() { sed -n 's|^<script type="application/json" id="data">\(.*\)</script>$|\1|p' "$1"; }
expect_status 0 tx-train --report run -o page.html
expect_empty_stdout
expect_empty_stderr
data page.html | grep -qF '"steps":{"step":[1],"epoch":[1],"learning_rate":[0.1],"tokens":[5],' ||
  fail 'the steps'
data page.html | grep -qF '"perplexity":[null],' || fail 'no null for a missing number'
data page.html | grep -qF '"validations":[{"step":1,"validation_score":3,"seconds":1.5}]' ||
  fail 'the validation'
data page.html | grep -qF '"common":{"seed":1,"src":["a"]}' || fail 'the options'
grep -qE '(src|href)=' page.html && fail 'the page refers to another file'
tx-train --report run -o - > printed
expect_same page.html printed

cp -r run other
printf '{"options":{"seed":2,"src":["a"],"steps":7}}\n' > other/config.json
tx-train --report run other -o page.html
data page.html |
  grep -qF '"differing":[{"option":"seed","values":[1,2]},{"option":"steps","values":[null,7]}]' ||
  fail 'the options that differ'

# The loss of a guided head.
! data page.html | grep -q guided_loss || fail 'a guided loss without a guided head'
mkdir guided
printf '{"options":{}}\n' > guided/config.json
printf '{"step":1,"loss":4.5,"guided_loss":1.5,"seconds":1}\n' > guided/log.jsonl
tx-train --report run guided -o page.html
data page.html | grep -qF '"guided_loss":[1.5]' || fail 'no loss of the guided head'

# --log-gradients: a column for each layer of any line.
! data page.html | grep -q gradient_norms || fail 'layers without --log-gradients'
mkdir layers
printf '{"options":{}}\n' > layers/config.json
printf '%s\n' '{"step":1,"loss":4,"gradient_norms":{"encoder.layers.0":2,"embedding":null},"seconds":1}' \
  '{"step":2,"loss":4,"seconds":2}' > layers/log.jsonl
tx-train --report layers -o page.html
data page.html | grep -qF '"gradient_norms":{"encoder.layers.0":[2.0,null],"embedding":[null,null]}' ||
  fail 'no gradient norms by layer'

# A long log is averaged.
awk 'BEGIN {
  for (i = 1; i <= 9001; ++i) printf "{\"step\":%d,\"loss\":%d,\"seconds\":%d}\n", i, i, i
}' > run/log.jsonl
tx-train --report run -o page.html
data page.html | grep -qF '"steps":{"step":[3,6,9,' || fail 'groups of three lines'
data page.html | grep -qF '9000,9001],"epoch"' || fail 'the last group'
data page.html | grep -qF '"loss":[2.0,5.0,8.0,' || fail 'the means'
grep -q 'class="notice">run: each point is the mean of 3 lines of the log' page.html || fail 'no notice'
printf '{"step":0,"checkpoint":"model-0.safetensors","seconds":0.1}\n' > run/log.jsonl
tx-train --report run -o page.html
grep -q 'class="notice">run: no step has been logged yet' page.html || fail 'no notice'

# Damaged runs.
refused() { # TEXT COMMAND...: after the command
  text=$1
  shift
  "$@"
  expect_error "$text" tx-train --report run -o none.html
  expect_no_file none.html
}
log() { printf "$1\n" > run/log.jsonl; }
each_row refused <<'END'
log '{"step":1,"loss":2}\n' => run/log.jsonl:2
log '{"step":1,"loss":2}\n[1]' => run/log.jsonl:2: not a line of a run's log: "step" is missing or not a number
log '{"step":"1","loss":2}' => run/log.jsonl:1: not a line of a run's log
log '{"step":1,"incident":"spike"}' => run/log.jsonl:1: at_step is missing
rm run/log.jsonl => cannot read run/log.jsonl: No such file or directory
eval 'echo [] > run/config.json' => run/config.json has no options; is this a run directory?
mv run missing => cannot read run/config.json: No such file or directory
END
each_row expect_usage_error tx-train <<'END'
--report -o none.html => --report: give at least one run directory
--report other => --report: give the page to write: -o page.html
other => argument 'other' needs --report
--report other --describe => --describe cannot be used with --report
--html page.html => --html needs --describe: add it
END
expect_status 0 tx-train --describe --preset toy --html describe.html
expect_empty_stdout
[ "$(head -n 1 describe.html)" = '<!doctype html>' ] || fail 'the page of --describe'
data describe.html | grep -qF '"kind":"' || fail 'its data'
