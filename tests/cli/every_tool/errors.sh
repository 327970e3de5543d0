# Usage errors: status 2, a message with the tool and the word, and nothing is written.
for tool in $(tools); do
  commands "$tool" > list
  while read -r command; do
    # shellcheck disable=SC2086  # tool and command
    expect_status 2 $command --no-such-option < /dev/null
    expect_empty_stdout
    expect_stderr_contains "$tool: unknown option --no-such-option"
    expect_stderr_contains "try $tool"
    # shellcheck disable=SC2086
    expect_status 2 $command --hepl < /dev/null
    expect_stderr_contains "did you mean --help?"
  done < list
done

# An empty argument, as from an unset variable, is an error.
each_row expect_usage_error <<'END'
tx-decode -m none --tgt "" => --tgt has an empty value: expected FILE
tx-decode -m none --tgt= text => --tgt has an empty value: expected FILE
tx-decode -m none --memory "" => --memory has an empty value
tx-train --init "" -o run => --init has an empty value
tx-bpe encode -m "" => --model has an empty value
tx-avg -m model => unknown option -m
END
expect_stderr_lacks 'did you mean' # for an unknown letter

# tx-decode and tx-attn-dump: unusable models and invalid options.
make_model model layers 2 heads 4
printf 'w5\n' > in
: > empty
head -c 3000 model > short
mkdir folder
for tool in tx-decode tx-attn-dump; do
  each_row expect_error $tool <<END
-m missing in => missing: No such file or directory
-m empty in => empty
-m short in => short
-m folder in => folder
-m model absent => $tool: cannot read absent: No such file or directory
END
  if [ -e /dev/full ]; then
    expect_status 1 sh -c "$tool -m model in > /dev/full"
    expect_stderr_contains "$tool: cannot write standard output: No space left on device"
  fi
  each_row expect_usage_error $tool <<'END'
 => model
-m model --device cuda => --device cuda
END
done
each_row expect_usage_error tx-decode -m model <<'END'
--beam 0 => --beam
--status 1 => --status 1
--status 8 => descriptor 8 is not open
END
expect_error missing/ tx-attn-dump -m model --format safetensors -o missing/out in
each_row expect_usage_error tx-attn-dump -m model <<'END'
--layers 2 => --layers 2: the model has 2 encoder layers, 0 to 1
--heads 0-4 => --heads 0-4: the model has 4 heads, 0 to 3
--layers 1,x => --layers: 'x' is not a number or range; write a list like 0,2-3
--kinds self => --kinds self: must be a comma-separated list of encoder, decoder, cross
--what weight => --what weight: must be a comma-separated list of weights, scores, scaled, masked, q, k, v, context, output, log_p
--average heads --what weights,q => --average applies to weights only: remove q from --what, or remove --average
--heatmap --what weights => --what cannot be used with --heatmap: a map shows weights
--words --what weights,scores,log_p => --words applies to weights only: remove scores from --what, or remove --words
--top 3 --what scores,v => --top applies to weights, scores, scaled and masked only: remove v from --what, or remove --top
--format safetensors in => --format safetensors needs a file: give -o FILE
--dtype f16 in => --dtype needs --format safetensors
--format safetensors -o out --digits 3 in => --digits cannot be used with --format safetensors
-o in in => in
--stats rows in => --stats rows
--format tsv in => --format tsv needs --stats
--stats heads --average heads in => --stats cannot be used with --average
--average layers => --average
--digits 0 => --digits
--width 60 => --width needs --heatmap: add it
--heatmap --digits 3 => --digits cannot be used with --heatmap: a map shows shades
--kinds "" => --kinds has an empty value: expected LIST
--kinds= in => --kinds has an empty value: expected LIST
--layers "" => --layers has an empty value: expected LIST
--layers= in => --layers has an empty value: expected LIST
--heads "" => --heads has an empty value: expected LIST
--heads= in => --heads has an empty value: expected LIST
END

# A model without a finite weight: 8 bytes of the first of its data are NaN.
header=$(od -A n -t u8 -N 8 model | tr -d ' ')
cp model damaged
LC_ALL=C sed -i 's/"xxh3"/"Xxh3"/' damaged
printf '\377\377\377\377\377\377\377\377' | dd of=damaged bs=1 seek=$((header + 8)) conv=notrunc 2> dd.log
for weights in f16 int8; do
  expect_status 1 tx-attn-dump -m damaged --html page.html --live --weights $weights
  expect_stderr_contains 'damaged is damaged: '
  expect_stderr_contains ' has a weight that is not a finite number'
  expect_no_file page.html
done

# A model that forbids every token, even the end of the sentence.
(
  . "$TX_SOURCE/tests/cli/train.sh"
  small_text
)
{
  printf 'tx-pieces 1\n{"pieces":["<pad>","<unk>","<s>","</s>","\\u2581one"],"forbidden":[1,3,4]}\n'
  cat bpe.model
} > mapped
make_model silent vocabulary mapped
echo one > in
expect_status 1 tx-attn-dump -m silent in
expect_stderr 'tx-attn-dump: line 1: the translation has no tokens, not even the end: silent forbids all of them'
make_model silent-encoder vocabulary mapped kind encoder
echo '<mask>' > masked
expect_status 1 tx-decode -m silent-encoder masked
expect_stderr 'tx-decode: silent-encoder forbids every token: no mask can be filled'
