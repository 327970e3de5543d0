# Usage errors, among them options without effect; unreadable files and files of different lengths.
printf 'a\n' > ref
each_row expect_usage_error tx-bleu <<'END'
 => no reference file
--tokenize 14 ref => one of 13a, intl, char, zh, none, spm
--tokenize ja-mecab ref => not built in
--tokenize spm ref => -m FILE
-m ref ref => a model is for
-m bleu ref => -m bleu: there is no such model; did you mean --metric bleu?
--tokenize spm -m chrf++,ter ref => did you mean --metric chrf++,ter?
--digits 99 ref => --digits
- < ref => standard input
--smooth cap ref => exp, floor, add-k, none
--smooth-value 1 ref => --smooth-value needs --smooth floor or add-k
--metric bleu,rouge ref => --metric rouge: must be a comma-separated list of bleu, chrf, chrf++, ter,
--metric bleu, ref => --metric : must be a comma-separated list of
--metric ter,ter ref => given twice
--max-order 0 ref => --max-order
--num-refs 2 ref ref => --num-refs needs a single file of references
--paired-bootstrap ref => needs two systems
--paired-bootstrap --paired-approximate -i a -i b ref => cannot be used with --paired-approximate
--sentence -i a -i b ref => one system
-i ref -i ref ref => given twice
--stats --json ref => tx-stats(5)
--from-stats -i a ref => no further file
--ter-no-punct ref => --ter-no-punct needs --metric ter
--chrf-beta 3 ref => --chrf-beta needs --metric chrf or chrf++
--skip-malformed ref => --skip-malformed needs --metric f1
--metric ter --lowercase ref => --lowercase needs --metric bleu
--from-stats --lowercase ref => --lowercase cannot be used with --from-stats
--from-stats --metric ter ref => --metric cannot be used with --from-stats
--from-stats --strict ref => --strict cannot be used with --from-stats
--resamples 9 ref => --resamples needs --confidence or --paired-bootstrap
--confidence --trials 9 ref => --trials needs --paired-approximate
--seed 9 ref => --seed needs --confidence
--sentence --confidence ref => --confidence cannot be used with --sentence
--score-only --json ref => the JSON contains the score
--digits 3 --stats ref => --digits cannot be used with --stats
--tokenize= ref => --tokenize has an empty value
"" => REFERENCE has an empty value
-lc --metric ter ref => --lowercase needs --metric bleu
--metrics bleu chrf ref => separate several metrics by commas: --metric bleu,chrf
-t wmt14 -l en-de => tx-bleu has no test sets
-f latex ref => --format latex: must be one of text, json
-e latin1 ref => --encoding latin1: must be
-f json -b ref => --format json cannot be used with
END
mkdir folder
printf 'a\nb\nc\n' > three
printf 'a\nb\nc\nd e\nf\n' > five
each_row expect_error tx-bleu <<'END'
missing => tx-bleu: cannot read missing: No such file or directory
folder => tx-bleu: cannot read folder: Is a directory
ref -i missing => tx-bleu: cannot read missing: No such file or directory
five < three => tx-bleu: standard input has 3 lines, five has 5 lines: line 4 of five ("d e") has no counterpart; give files with the same number of lines
three -i five => three has 3 lines, five has 5 lines: line 4 of five ("d e")
three five -i three => three has 3 lines, five has 5 lines
three => standard input has 0 lines, three has 3 lines: line 1 of three ("a")
END
if [ -e /dev/full ]; then
  expect_status 1 sh -c 'tx-bleu ref < ref > /dev/full'
  expect_stderr_contains 'tx-bleu: cannot write standard output: No space left on device'
fi
expect_status 0 tx-bleu --metric chrf++,ter ref < ref
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
same '--paired-bootstrap --resamples 9 -i other' '-pbs -pbsn 9 -i other'
same '--paired-approximate --trials 9 -i other' '--paired-ar --paired-ar-n 9 -i other'
printf 'a\tb\n' > refs
printf 'a\n' > one
expect_status 0 tx-bleu -nr 2 refs -i one
