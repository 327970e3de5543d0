# --alignments appends alignments to each output, equal to those of tx-attn-dump --align.
make_model model
awk 'BEGIN { for (i = 0; i < 30; ++i) { for (j = 0; j <= i % 7; ++j) printf "w%d ", 4 + (i * 7 + j) % 50; print "" } print "" }' > in
expect_status 0 tx-decode -m model --precision fp32 --alignments words in
expect_stdout_lines 31
last_stdout > aligned
cut -f 1 aligned > text
tx-decode -m model --precision fp32 in | cmp - text
tx-attn-dump -m model --align --words in > links
cut -f 2 aligned | cmp - links
expect_status 0 tx-decode -m model --precision fp32 --alignments pieces --nbest 3 --threads 1 in
last_stdout > one
awk -F '\t' 'NF != 6 || split($5, w, " ") != split($6, l, " ") { exit 1 }' one ||
  fail 'wrong n-best list'
expect_status 0 tx-decode -m model --precision fp32 --alignments pieces --nbest 3 --threads 3 in
expect_stdout_file one

# Of given translations, and from one head.
expect_status 0 tx-decode -m model --precision fp32 --alignments pieces --layers 0 --heads 3 --tgt in in
last_stdout | cut -f 4 > links
tx-attn-dump -m model --align --layers 0 --heads 3 --tgt in in | cmp - links

each_row expect_usage_error tx-decode -m model <<'END'
--layers 0 in => --layers needs --alignments: add it
--alignments words --layers 2 in => --layers 2: the model has 2 decoder layers, 0 to 1
-m model --alignments words in => --alignments needs a single model: give one -m
--alignments letters in => --alignments letters: must be one of words, pieces
END
