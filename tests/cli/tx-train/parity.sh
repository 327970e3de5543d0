# --parity compares one step on every device and precision of the machine.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
expect_status 0 small_train --parity
expect_stdout_contains "cpu fp32	loss"
expect_stdout_contains "(reference)"
expect_stdout_contains "cpu bf16	decoder.layers.0.cross_attn.q_proj.weight	gradient"
[ "$(find . -name 'tx-parity*' | wc -l)" -eq 0 ] || fail "temporary files are left"
expect_status 2 tx-train --parity --vocab bpe.model
expect_stderr_contains "--parity needs text"
