# --tgt scores given translations: outputs of a search get the search's scores, and the sum gives
# the perplexity that training logs for its validation text.
make_model one seed 1
make_model two seed 2
printf 'w5 w6 w7\n\nw8\nw9 w10 w11 w12 w13 w14 w15 w16\n' > in
for models in '-m one' '-m one -m two'; do
  tx-decode $models --precision fp32 --max-extra 5 --beam 30 --nbest 30 < in > list
  cut -f 1 list | while read -r line; do sed -n "${line}p" in; done > sources
  cut -f 5 list > given
  cut -f 3- list > wanted
  for how in '--threads 1' '--threads 3 --batch-tokens 20'; do
    expect_status 0 tx-decode $models --precision fp32 --max-extra 5 $how --tgt given < sources
# Outputs cut by --max-extra are scored with an additional </s>.
    last_stdout | paste - wanted sources | awk -F '\t' '
      $3 != $6 { exit bad = 1 }
      $3 == "" || split($3, out, " ") == split($7, in_, " ") + 5 { next }
      $1 FS $2 != $4 FS $5 { exit bad = 1 }
      { ++whole }
      END { exit bad || whole < 10 }' || fail "$models $how: scores differ from the search's"
  done
done

# An empty translation is </s> alone. A blank line can only be translated by a blank line.
printf 'w5\n\n\n' > in
printf '\n\nw7 w7\n' > given
expect_status 0 tx-decode -m one --tgt given --status 2 in
expect_stdout_lines 3
last_stdout | awk -F '\t' '
  NR == 1 && !($1 == $2 && $1 < 0 && $3 == "") ||
  NR == 2 && $0 != "0.000000\t0.000000\t" ||
  NR == 3 && $0 != "-inf\t-inf\tw7 w7" { exit 1 }' || fail 'blank lines'
expect_stderr_contains "$(printf '3\tempty\t0\t2\t0\t-inf\t-inf\t')"
expect_status 0 tx-decode -m one --tgt - in < given
expect_stdout_lines 3
printf '5 6\n' > ids
expect_status 0 tx-decode -m one --ids --tgt ids ids
last_stdout | cut -f 3 | cmp -s - ids || fail 'ids'

# Targets are limited to --max-length + --max-extra + 1 tokens; longer ones are truncated, without
# </s>.
expect_status 0 tx-decode -m one --max-length 2 --max-extra 0 --tgt given --status 2 in
expect_stdout_lines 3
printf 'w5\n' > one_line
printf 'w7 w8 w9 w10\n' > long
expect_status 0 tx-decode -m one --max-length 2 --max-extra 0 --tgt long --status 2 one_line
last_stdout | awk -F '\t' '$3 != "w7 w8" { exit 1 }' || fail 'not the first two tokens'
expect_stderr_contains \
  'tx-decode: warning: long:1: 4 tokens, cut to the first 2 (--max-length and --max-extra)'
expect_stderr_contains "$(printf '1\tmaximum\t1\t2\t0\t')"

head -n 2 given > short
expect_status 1 tx-decode -m one --tgt short in
expect_stdout_lines 2
expect_stderr 'tx-decode: short has 2 lines, in has 3 lines: line 3 of in has no counterpart; give files with the same number of lines'
expect_status 1 tx-decode -m one --tgt missing in
expect_stderr 'tx-decode: cannot read missing: No such file or directory'
printf '99999\n' > bad
expect_status 1 tx-decode -m one --ids --tgt bad ids
expect_stderr_contains 'bad:1: '
expect_usage_error 'standard input can be only one of the inputs' tx-decode -m one --tgt - < in
expect_usage_error '--beam cannot be used with --tgt' tx-decode -m one --tgt given --beam 2 < in
expect_usage_error '--nbest cannot be used with --tgt' tx-decode -m one --tgt given --nbest 2 < in
expect_usage_error '--sample cannot be used with --tgt' tx-decode -m one --tgt given --sample < in
expect_status 0 tx-decode -m one --tgt given --check-invariance in
expect_stdout_contains 'verdict: translations and scores are batch-invariant'

. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train --valid-every 12 -o run 2> /dev/null
expect_status 0 tx-decode -m run/last.safetensors --tgt valid.de --status status < valid.en
validation=$(sed -n 's/.*"step":12,.*"validation_perplexity":\([0-9.]*\).*/\1/p' run/log.jsonl)
awk -v wanted="$validation" 'NR > 1 { log_p += $7; labels += $4 + 1 }
  END { got = exp(-log_p / labels); exit !(got > 0.9999 * wanted && got < 1.0001 * wanted) }' \
  status || fail "the perplexity is not $validation"

# --perplexity prints the same for a text and its translation, in two files or two columns.
expect_status 0 tx-decode -m run/last.safetensors --tgt valid.de --perplexity < valid.en
last_stderr > said
last_stdout > scored
sed -n 's/^tx-decode: log P -[0-9.]* over [0-9]* tokens, ends counted: perplexity //p' said |
  awk -v wanted="$validation" '{ ok = $1 > 0.9995 * wanted && $1 < 1.0005 * wanted }
    END { exit !ok || NR != 1 }' || fail "the perplexity is not $validation: $(cat said)"
expect_status 0 tx-decode -m run/last.safetensors --tgt valid.de < valid.en
expect_stdout_file scored
paste valid.en valid.de > valid.tsv
expect_status 0 tx-decode -q -m run/last.safetensors --perplexity valid.tsv
expect_stdout_file scored
last_stderr | cmp - said || fail 'the perplexity of two columns'
expect_status 0 tx-decode -m run/last.safetensors --perplexity --word-scores valid.tsv
last_stdout | awk -F '\t' '{ n = split($4, log_p, " "); for (i = 1; i <= n; ++i) sum += log_p[i] }
  END { printf "tx-decode: log P %.1f over \n", sum }' > sums
grep -qF "$(cat sums)" said || fail "log P is not the sum of the words': $(cat sums said)"
expect_status 0 tx-decode -m run/last.safetensors --perplexity --check-invariance valid.tsv

# A blank text has no translation other than a blank one.
printf 'w5\tw6 w7\n\n\tw5\n \t\nw5\t\n' > pairs
expect_status 0 tx-decode -m one --perplexity pairs
expect_stdout_lines 5
last_stdout | awk -F '\t' 'NR == 1 && $3 != "w6 w7" || NR == 2 && $0 != "0.000000\t0.000000\t" ||
  NR == 3 && $0 != "-inf\t-inf\tw5" || NR == 5 && $3 != "" { exit 1 }' || fail 'blank columns'
expect_stderr_contains ' over 3 tokens, ends counted: perplexity '
expect_stderr_contains '; left out 1 line with a translation of blank text'
expect_stderr_contains '; left out 1 line with an empty translation or a side that was cut'
printf 'w5\tw6\nw5 w6\n' > pairs
expect_status 1 tx-decode -m one --perplexity pairs
expect_stdout_lines 1
expect_stderr 'tx-decode: pairs:2: no tab: give SOURCE, a tab, TARGET, or the targets with --tgt FILE'
printf 'w5\tw6\tw7\n' > pairs
expect_status 1 tx-decode -m one --perplexity pairs
expect_stderr 'tx-decode: pairs:1: the line has more columns than --perplexity reads: SOURCE, a tab, TARGET'
for option in '--beam 2' '--nbest 2' --sample '--no-repeat 2' --prefix --constraints '--split 5' '--compare two' \
  '--shortlist given'; do
  # shellcheck disable=SC2086  # a list of words
  expect_status 2 tx-decode -m one --perplexity $option pairs
  expect_stderr_contains ' cannot be used with '
  expect_stderr_contains "${option%% *}"
done
expect_usage_error '--tgt has an empty value: expected FILE' tx-decode -m one --tgt= given
