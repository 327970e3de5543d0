# examples/language_model.sh and masked_model.sh: no duplicate lines, and a whole run with few steps,
# which a second call resumes.
for name in language_model masked_model; do
  expect_status 0 sh "$TX_SOURCE/examples/$name.sh" $name 20
  cat $name/train.txt $name/valid.txt $name/test.txt | sort | uniq -d > twice
  [ ! -s twice ] || fail "$name: duplicate lines"
  expect_stdout_contains " of $(wc -l < $name/test.txt) "
  expect_status 0 sh "$TX_SOURCE/examples/$name.sh" $name 25
  expect_stderr_contains "resuming $name/run after step 20"
done
expect_file masked_model/vectors.safetensors
# The model scores every line of the test text.
expect_status 0 tx-decode -m language_model/run --perplexity -q language_model/test.txt
expect_stdout_lines "$(wc -l < language_model/test.txt)"
