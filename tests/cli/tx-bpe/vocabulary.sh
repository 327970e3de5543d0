# vocab lists tokens with scores or counts; encode --vocabulary uses only tokens with enough
# counts.
printf 'low lower lowest\nlow low low\nslow\n' > text
tx-bpe train --vocab-size 300 -o model text 2> /dev/null
expect_status 0 tx-bpe vocab -m model
expect_stdout_contains "$(printf '0\t<pad>\t0')"
expect_stdout_contains "$(printf '260\tlo\t-0')"
expect_stdout_contains "$(printf '261\tlow\t-1')"

expect_status 0 tx-bpe vocab -m model --counts text
last_stdout > counts
for threads in 2 3 7; do
  expect_status 0 tx-bpe vocab -m model --counts --threads $threads text
  expect_stdout_file counts
done
expect_status 0 sh -c "tx-bpe encode -m model text | tr ' ' '\n' | sort | uniq -c |
  awk '{ print \$2 \"\t\" \$1 }' | sort"
last_stdout > wanted
sort counts > sorted
expect_same wanted sorted
expect_status 0 head -1 counts
expect_stdout "$(printf '▁low\t4')"

# Tokens with too small counts are split again.
expect_status 0 sh -c 'echo "low slow" | tx-bpe encode -m model'
expect_stdout '▁low ▁slow'
echo "low slow" > line
expect_status 0 tx-bpe encode -m model --vocabulary counts --vocabulary-threshold 2 line
expect_stdout '▁low ▁ s l o w'
printf 'low 3\n' > spaces
expect_status 0 sh -c 'echo "low slow é" | tx-bpe encode -m model --vocabulary spaces'
expect_stdout '▁ low ▁ s low ▁ <0xC3> <0xA9>'
tx-bpe encode -m model --vocabulary spaces line > pieces
expect_status 0 tx-bpe decode -m model pieces
expect_stdout_file line

# Also with normalisation and with BPE-dropout.
tx-bpe train --vocab-size 300 --normalization nfkc -o nfkc text 2> /dev/null
for dropout in 0 0.000001; do
  expect_status 0 tx-bpe encode -m nfkc --vocabulary spaces --bpe-dropout $dropout line
  expect_stdout '▁ low ▁ s low'
done

printf 'low\t3\nlow\tmany\n' > bad
expect_status 1 tx-bpe encode -m model --vocabulary bad text
expect_stderr "tx-bpe: bad:2: 'many' is not a count"
printf 'low\t3\n\n' > bad
expect_status 1 tx-bpe encode -m model --vocabulary bad text
expect_stderr 'tx-bpe: bad:2: expected a token, a tab or a space, and a count'
expect_status 1 tx-bpe encode -m model --vocabulary none text
# Lists of scores, of words, of another model, of nothing.
tx-bpe vocab -m model > listed
expect_status 1 tx-bpe encode -m model --vocabulary listed text
expect_stderr_contains "tx-bpe: listed:261: '-0' is not a count but a score"
cut -f 2,3 listed > scores
expect_status 1 tx-bpe encode -m model --vocabulary scores text
expect_stderr "tx-bpe: scores:261: '-0' is not a count but a score: give counts, as tx-bpe vocab\
 --counts writes"
cut -f 2 listed | sed '1,4d' > tokens
expect_status 0 tx-bpe encode -m model --vocabulary tokens text
printf 'house\t9\ngarden\t7\nl\t1\n' > foreign
expect_status 1 tx-bpe encode -m model --vocabulary foreign text
expect_stderr 'tx-bpe: foreign: 2 of 3 entries are not tokens of this vocabulary; expected its tokens with their counts, as tx-bpe vocab --counts or subword-nmt get-vocab writes them'
: > empty
expect_status 1 tx-bpe encode -m model --vocabulary empty text
expect_stderr 'tx-bpe: empty is empty; expected tokens'
# Most of its entries are characters, which both models have.
printf 'garden gardener gardening\nlow\nslow water\n' > garden
tx-bpe train --vocab-size 300 -o garden.model garden 2> /dev/null
tx-bpe vocab -m garden.model --counts garden > foreign
for c in a b c d e f g h i j k l m n o p q r s t u v w x y z; do printf '%s\t1\n' $c; done >> foreign
expect_status 1 tx-bpe encode -m model --vocabulary foreign text
expect_stderr_contains 'entries are not tokens of this vocabulary; expected its tokens'
expect_usage_error '--vocabulary-threshold needs --vocabulary: add it' tx-bpe encode -m model --vocabulary-threshold 2 text
expect_usage_error "argument 'text' needs --counts: add it" tx-bpe vocab -m model text
printf 'tx-words 1\n<pad>\n<unk>\n<s>\n</s>\na\n' > list
expect_usage_error 'cannot be restricted' tx-bpe encode -m list --vocabulary counts text
expect_status 0 tx-bpe vocab -m list
expect_stdout '0	<pad>
1	<unk>
2	<s>
3	</s>
4	a'
