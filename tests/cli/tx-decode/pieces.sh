# Subwords and ids as input and output; an unknown token is an error after the outputs of earlier
# lines.
make_model model
printf 'w5 w6\nw9\n' > text
expect_status 0 tx-decode -m model < text
last_stdout > wanted
expect_status 0 tx-decode -m model --pieces < text
expect_stdout_file wanted
printf '5 6\n9\n' > ids
expect_status 0 tx-decode -m model --ids < ids
last_stdout | sed 's/[0-9][0-9]*/w&/g' > out
expect_same wanted out
printf 'w5 w6\nw9\nw5 nothing\nw5\n' > bad
expect_status 1 tx-decode -m model --pieces < bad
expect_stdout_file wanted
expect_stderr 'tx-decode: standard input:3: "nothing" is not a token of this vocabulary'
printf '5 60\n' > bad
expect_status 1 tx-decode -m model --ids < bad
expect_stderr 'tx-decode: standard input:1: id 60 is outside the vocabulary of 60 tokens'
expect_usage_error '--pieces cannot be used with --ids' tx-decode -m model --pieces --ids
