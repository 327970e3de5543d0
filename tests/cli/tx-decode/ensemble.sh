# Ensembles: the same model twice changes nothing, another one does, different vocabularies are an
# error.
make_model one seed 1
make_model two seed 2
make_model other words 61
printf 'w5 w6 w7\nw8\n' > in
decode='tx-decode --precision fp32 --max-extra 5'
expect_status 0 $decode -m one < in
last_stdout > alone
expect_status 0 $decode -m one -m one < in
expect_stdout_file alone
expect_status 0 $decode -m one -m two --threads 2 < in
last_stdout > both
! cmp -s alone both || fail 'the second model changes nothing'
expect_status 0 $decode -m two -m one --threads 1 < in
expect_stdout_file both
expect_status 1 $decode -m one -m other < in
expect_empty_stdout
expect_stderr_contains 'tx-decode: one and other have different source vocabularies ('
