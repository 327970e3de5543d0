# tx-bpe shortlist: counts by hand, from words, subwords and tables; errors name the line.
printf 'tx-words 1\n<pad>\n<unk>\n<s>\n</s>\na\nb\nc\nA\nB\nC\n' > list
printf 'a b\na c\n\na\n' > src
printf 'A B\nC A A\n\nB\n' > tgt
printf '0-0 1-1\n0-1 1-0 0-2\n\n0-0\n' > links
expect_status 0 tx-bpe shortlist -m list --src src --tgt tgt --links links -o -
expect_stdout "$(printf '\tA\t0.5\n\tB\t0.333333\n\tC\t0.166667
a\tA\t0.75\na\tB\t0.25\nb\tB\t1\nc\tC\t1')"
last_stdout > whole
expect_status 0 tx-bpe shortlist -m list --src src --tgt tgt --links links -o out
expect_same whole out
expect_status 0 tx-bpe shortlist -m list --src src --tgt tgt --links links --first 1 --best 1 -o -
expect_stdout "$(printf '\tA\t0.5\na\tA\t0.75\nb\tB\t1\nc\tC\t1')"

# Words of several subwords: all pairs of their subwords, or alignments between subwords.
printf 'low lower lowest\nlow low low\nslow\n' > text
tx-bpe train --vocab-size 270 -o model text 2> /dev/null
printf 'slow\n' > src
printf 'low\n' > tgt
tx-bpe encode -m model src tgt > pieces
[ "$(cat pieces)" = "$(printf '▁ s low\n▁ low')" ] || fail "other subwords: $(cat pieces)"
printf '0-0\n' > links
expect_status 0 tx-bpe shortlist -m model --src src --tgt tgt --links links -o -
expect_stdout "$(printf '\tlow\t0.5\n\t▁\t0.5\nlow\tlow\t0.5\nlow\t▁\t0.5
▁\tlow\t0.5\n▁\t▁\t0.5\ns\tlow\t0.5\ns\t▁\t0.5')"
printf '0-0 2-1\n' > links
expect_status 0 tx-bpe shortlist -m model --src src --tgt tgt --links links --unit pieces -o -
expect_stdout "$(printf '\tlow\t0.5\n\t▁\t0.5\nlow\tlow\t1\n▁\t▁\t1')"
expect_status 1 tx-bpe shortlist -m model --src src --tgt tgt --links links -o out2
expect_stderr 'tx-bpe: links:1: link 2-1, but the source has 1 word, counted from 0; --unit pieces is for links between tokens, as tx-attn-dump --align writes them without --words'
expect_no_file out2

printf '9-0\n' > links
for unit in 'words 1 word' 'pieces 3 tokens'; do
  expect_status 1 tx-bpe shortlist -m model --src src --tgt tgt --links links --unit ${unit%% *} -o out2
  expect_stderr "tx-bpe: links:1: link 9-0, but the source has ${unit#* }, counted from 0"
done

# A table of another tool, with words that are not in the vocabulary.
printf 'a A 0.25\na B 0.5\nNULL B 0.1\nb\tC\t1\n' > table
printf 'A\n' > tgt
expect_status 0 tx-bpe shortlist -m list --tgt tgt --table table -o -
expect_stdout "$(printf '\tA\t1\na\tB\t0.5\na\tA\t0.25\nb\tC\t1')"
expect_stderr 'tx-bpe: warning: 1 line of 4 of table left out: the vocabulary lacks one of the tokens'
# refused TEXT FILE BYTES: with these bytes in the file, for printf.
refused() {
  printf "$3" > "$2"
  links="--src src --links links"
  [ "$2" = links ] || links="--table table"
  # shellcheck disable=SC2086  # several words
  expect_error "tx-bpe: $1" tx-bpe shortlist -m list --tgt tgt $links -o out2
}
printf 'a\na\n' > src
printf 'A\nA\n' > tgt
each_row refused <<'END'
table 'house Haus 0.25\ngarden Garten 0.5\n' => table: no line has tokens of both vocabularies; give a table of their tokens
table 'a A 0.25\na A\n' => table:2: expected a source token, a target token and a probability
table 'a A -2\n' => table:1: '-2' is not a probability above 0 and at most 1
links '0-0\n' => links has 1 line, src has 2 lines: line 2 of src has no counterpart; give files with the same number of lines
links '0-0\n0-0\n0-0\n' => src has 2 lines, links has 3 lines: line 3 of links has no counterpart; give files with the same number of lines
links '0-0\n0:0\n' => links:2: '0:0' is not a link; write 0-1 for a sure one, 0?1 or 0p1 for a possible one
END
each_row expect_usage_error tx-bpe <<'END'
shortlist -m list --tgt tgt -o out2 => missing option: --src FILE and --links FILE, or --table FILE
shortlist -m list --src src --links links --tgt tgt --table table -o out2 => --table cannot be used with --
encode --codes - < src => standard input can be only one of the inputs
shortlist -m list --src - --links links --tgt - -o out2 => standard input can be only one of the inputs
shortlist -m list --links links --tgt tgt -o out2 => --links needs --src: add it
shortlist -m list --src src --links links --tgt tgt -o tgt => --out tgt is also an input
END
expect_no_file out2
