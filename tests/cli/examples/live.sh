# live.sh writes the page of the model in a directory, with examples, and reports a missing model.
mkdir dir
expect_status 1 sh "$TX_SOURCE/examples/live.sh" dir
expect_stderr 'live.sh: dir has no model.safetensors; train it with examples/multi30k.sh'
make_model dir/model.safetensors
expect_status 0 sh "$TX_SOURCE/examples/live.sh" dir
expect_stdout 'open dir/live.html in a browser'
grep -qF '"examples":["a man in a red shirt is riding his bike .",' dir/live.html || fail 'no examples'
sh "$TX_SOURCE/examples/live.sh" dir page.html
expect_same dir/live.html page.html
