# Text from files reaches the terminal without control characters, marks of direction and its own
# line breaks: they are escaped.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
small_train --steps 2 --save-every 2 -o run 2> run.log || fail "$(cat run.log)"
odd=$(printf 'a\033[2Jb\302\233c\342\200\256d\n\ne\377')
escaped='a\u001b[2Jb\u009bc\u202ed\n\ne\xff'
json='a\u001b[2Jb\u009bc\u202ed\n\ne'
plain() { # N STREAM: N lines of ASCII
  [ -z "$(LC_ALL=C tr -d '\n\t -~' < "$TX_LAST/$2")" ] || fail "$2 holds control characters"
  [ "$(wc -l < "$TX_LAST/$2")" -eq "$1" ] || fail "$2 does not have $1 lines"
}

# Values, keys and names in configurations.
for setting in "\"preset\":\"$json\"" "\"$json\":1" "\"bpe-dropout\":\"$json\"" \
  "\"norm-position\":\"$json\"" "\"options\":{\"$json\":1}"; do
  printf "{%s}\n" "$setting" > config
  expect_status 2 small_train --config config -o none
  plain 2 stderr
done
expect_stderr_contains 'try tx-train --help'

# Names of files: in messages about a file and in a list of what a directory holds.
mkdir dir
: > "dir/$odd"
expect_status 1 tx-decode -m dir
expect_stderr_contains "it holds $escaped)"
plain 1 stderr
printf 'a\r\n' > "$odd"
expect_status 0 tx-bpe encode -m bpe.model "$odd"
expect_stderr_contains "tx-bpe: warning: $escaped:1: "
plain 1 stderr
expect_status 1 tx-bleu "dir/$odd.none" < train.en
expect_stderr "tx-bleu: cannot read dir/$escaped.none: No such file or directory"

# A training state and a model.
LC_ALL=C sed -i 's|"model_xxh3":"[0-9a-f]\{16\}"|"model_xxh3":"\\u001b\\u202eabcd"|' run/state-2.safetensors
expect_status 1 tx-train --resume run --steps 4
expect_stderr_contains '(checksum \u001b\u202eabcd instead of'
LC_ALL=C sed 's|"kind":"encoder-decoder"|"kind":"\\u001b\\u009bcod\\u202e"|' run/model-2.safetensors > model
expect_status 1 tx-decode -m model
plain 1 stderr
{
  printf 'tx-pieces 1\n{"pieces":["<pad>","<unk>","<s>","</s>","\\u2581one","a\\u001b\\u202e\\nb"],"languages":[5]}\n'
  cat bpe.model
} > mapped
make_model languages vocabulary mapped
expect_status 0 tx-decode -m languages --describe
[ -z "$(LC_ALL=C tr -d '\n\t -~' < "$TX_LAST/stdout")" ] || fail 'the name of a language'

# Statistics of scores; JSON and results stay as they are.
tx-bleu --stats train.en < train.de > stats
expect_status 0 tx-bleu --from-stats stats
last_stdout > wanted
sed "s|\"signature\":\"[^\"]*|&$json|; s|\"settings\":\"[^\"]*|&$json|" stats > odd-stats
status=0
tx-bleu --from-stats odd-stats > "$TX_LAST/stdout" 2> "$TX_LAST/stderr" || status=$?
plain 1 "$([ $status -eq 0 ] && echo stdout || echo stderr)"
cp stats "$odd"
expect_status 0 tx-bleu --from-stats -i stats -i "$odd"
[ -z "$(LC_ALL=C tr -d '\n\t -~' < "$TX_LAST/stdout")" ] || fail 'a name in the table'
expect_stdout_contains "$escaped"
