# Usage errors write nothing.
printf 'a\n' > ref
expect_usage_error 'no reference file' tx-bleu
expect_usage_error 'one of 13a, intl, char, zh, none, spm' tx-bleu --tokenize 14 ref
expect_usage_error 'not built in' tx-bleu --tokenize ja-mecab ref
expect_usage_error '-m FILE' tx-bleu --tokenize spm ref
expect_usage_error 'a model is for' tx-bleu -m ref ref
expect_usage_error '-m bleu: there is no such model; did you mean --metric bleu?' tx-bleu -m bleu ref
expect_usage_error 'did you mean --metric chrf++,ter?' tx-bleu --tokenize spm -m chrf++,ter ref
expect_status 0 tx-bleu --metric chrf++,ter ref < ref
expect_usage_error --digits tx-bleu --digits 99 ref
expect_usage_error 'standard input' tx-bleu - < ref
expect_usage_error 'exp, floor, add-k, none' tx-bleu --smooth cap ref
expect_usage_error '--smooth-value needs --smooth floor or add-k' tx-bleu --smooth-value 1 ref
expect_usage_error '--metric rouge: must be a comma-separated list of bleu, chrf, chrf++, ter, ' \
  tx-bleu --metric bleu,rouge ref
expect_usage_error '--metric : must be a comma-separated list of' tx-bleu --metric bleu, ref
expect_usage_error 'given twice' tx-bleu --metric ter,ter ref
expect_usage_error --max-order tx-bleu --max-order 0 ref
expect_usage_error '--num-refs needs a single file of references' tx-bleu --num-refs 2 ref ref
expect_usage_error 'needs two systems' tx-bleu --paired-bootstrap ref
expect_usage_error 'cannot be used with --paired-approximate' tx-bleu --paired-bootstrap --paired-approximate -i a -i b ref
expect_usage_error 'one system' tx-bleu --sentence -i a -i b ref
expect_usage_error 'given twice' tx-bleu -i ref -i ref ref
expect_usage_error 'tx-stats(5)' tx-bleu --stats --json ref
expect_usage_error 'no further file' tx-bleu --from-stats -i a ref

# Options without effect are errors.
expect_usage_error '--ter-no-punct needs --metric ter' tx-bleu --ter-no-punct ref
expect_usage_error '--chrf-beta needs --metric chrf or chrf++' tx-bleu --chrf-beta 3 ref
expect_usage_error '--skip-malformed needs --metric f1' tx-bleu --skip-malformed ref
expect_usage_error '--lowercase needs --metric bleu' tx-bleu --metric ter --lowercase ref
expect_usage_error '--lowercase cannot be used with --from-stats' tx-bleu --from-stats --lowercase ref
expect_usage_error '--metric cannot be used with --from-stats' tx-bleu --from-stats --metric ter ref
expect_usage_error '--strict cannot be used with --from-stats' tx-bleu --from-stats --strict ref
expect_usage_error '--resamples needs --confidence or --paired-bootstrap' tx-bleu --resamples 9 ref
expect_usage_error '--trials needs --paired-approximate' tx-bleu --confidence --trials 9 ref
expect_usage_error '--seed needs --confidence' tx-bleu --seed 9 ref
expect_usage_error '--confidence cannot be used with --sentence' tx-bleu --sentence --confidence ref
expect_usage_error 'the JSON contains the score' tx-bleu --score-only --json ref
expect_usage_error '--digits cannot be used with --stats' tx-bleu --digits 3 --stats ref
expect_usage_error '--tokenize has an empty value' tx-bleu --tokenize= ref
expect_usage_error 'REFERENCE has an empty value' tx-bleu ""
expect_status 0 tx-bleu --threads 0 --metric chrf,ter --chrf-beta 3 --ter-no-punct ref -i ref

# sacreBLEU's option names: all spellings of an option give the same output.
printf 'The Cat sat on the mat.\nA dog, here\n' > ref
printf 'the cat sat on a mat.\na dog here\n' > hyp
same() { # WANTED OPTIONS: compares "tx-bleu WANTED ref" and "tx-bleu OPTIONS ref"
  # shellcheck disable=SC2086
  expect_status 0 tx-bleu $1 ref -i hyp
  last_stdout > wanted
  # shellcheck disable=SC2086
  expect_status 0 tx-bleu $2 ref -i hyp
  cmp "$TX_LAST/stdout" wanted || fail "$2 and $1 differ"
}
same '--tokenize char' '-tok char'
same '--tokenize intl' '-tok=intl'
same '--tokenize none' '--tok none'
same '--lowercase' -lc
same '--lowercase --digits 4' '-lc -w 4'
same '--score-only --digits 2' '-b -w 2'
same '--metric chrf' '--metrics chrf'
same '--metric chrf --chrf-word-order 2 --chrf-char-order 5' '--metric chrf -cw 2 -cc 5'
same '--smooth floor --smooth-value 0.2' '--smooth-method floor -sv 0.2'
same '--smooth none' '-s none'
same --sentence -sl
same --sentence --sentence-level
same '--confidence --resamples 9' '-ci -cin 9'
same '--confidence --resamples 9 --threads 2' '--confidence --confidence-n 9 -j 2'
same --json '--format json'
same --json '-f json'
same '' '-f text'
same '' '-q -nc -e utf-8'
same '' '--quiet --no-color --encoding utf-8'
cp hyp other
expect_status 0 tx-bleu --paired-bootstrap --resamples 9 ref -i hyp -i other
last_stdout > wanted
expect_status 0 tx-bleu -pbs -pbsn 9 ref -i hyp -i other
expect_stdout_file wanted
expect_status 0 tx-bleu --paired-approximate --trials 9 ref -i hyp -i other
last_stdout > wanted
expect_status 0 tx-bleu --paired-ar --paired-ar-n 9 ref -i hyp -i other
expect_stdout_file wanted
printf 'a\tb\n' > refs
printf 'a\n' > one
expect_status 0 tx-bleu -nr 2 refs -i one
expect_usage_error '--lowercase needs --metric bleu' tx-bleu -lc --metric ter ref
expect_usage_error 'separate several metrics by commas: --metric bleu,chrf' \
  tx-bleu --metrics bleu chrf ref
expect_usage_error 'tx-bleu has no test sets' tx-bleu -t wmt14 -l en-de
expect_usage_error '--format latex: must be one of text, json' tx-bleu -f latex ref
expect_usage_error '--encoding latin1: must be' tx-bleu -e latin1 ref
expect_usage_error '--format json cannot be used with' tx-bleu -f json -b ref
