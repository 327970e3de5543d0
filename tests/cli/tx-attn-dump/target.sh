# --tgt: line n belongs to line n; for different numbers of lines the message has both counts.
make_model model
printf 'w5 w6\nw7\n\n' > in
printf 'w9 w8\n\nw4\n' > target
expect_status 0 tx-attn-dump -m model --tgt target < in
expect_stdout_lines 3
expect_stdout_contains '"input":["<s>","w9","w8"],"target":["w9","w8","</s>"],'
expect_stdout_contains '"source_ids":[5,6,3],"target_ids":[9,8,3],"text":"w5 w6","translation":"w9 w8","forced":true'
expect_stdout_contains '"source":["w7","</s>"],"input":["<s>"],"target":["</s>"],"source_ids":[7,3],"target_ids":[3],"text":"w7","translation":""'
expect_stdout_contains '"line":3,"source":[],"input":[],"target":[],"source_ids":[],"target_ids":[],"text":"","translation":"","forced":true'
expect_status 0 tx-attn-dump -m model --tgt - in < target
expect_stdout_lines 3

head -n 2 target > short
expect_status 1 tx-attn-dump -m model --tgt short < in
expect_stdout_lines 2
expect_stderr 'tx-attn-dump: short has 2 lines, standard input has 3 lines: line 3 of standard input has no counterpart; give files with the same number of lines'
cat target target > long
expect_status 1 tx-attn-dump -m model --tgt long in
expect_stdout_lines 3
expect_stderr 'tx-attn-dump: in has 3 lines, long has 6 lines: line 4 of long has no counterpart; give files with the same number of lines'
expect_status 1 tx-attn-dump -m model --tgt missing in
expect_empty_stdout
expect_stderr 'tx-attn-dump: cannot read missing: No such file or directory'
each_row expect_usage_error tx-attn-dump -m model <<'END'
--align --align-dev - < in => standard input can be only one of the inputs
--tgt - < in => standard input can be only one of the inputs
--tgt target --beam 2 in => --beam cannot be used with --tgt
--tgt target --alpha 1 in => --alpha cannot be used with --tgt
END
