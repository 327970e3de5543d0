# examples/prompt.sh: one prompt and one answer per line, whatever the line holds.
tx-convert -q -o m "$TX_SOURCE/tests/golden/qwen3"
printf '%s\n' 'user:' 'b {} c' '' > template
printf '%s\n' 'a & a' '\1 \n {}' '' 'ab' > lines
expect_status 0 sh "$TX_SOURCE/examples/prompt.sh" m template --max-new 5 --beam 1 < lines
[ "$(wc -l < "$TX_LAST/stdout")" -eq 4 ] || fail 'not one answer per line'

# The prompts, by a tx-decode that repeats its input.
mkdir bin
printf '#!/bin/sh\necho "$@" > options\nexec cat\n' > bin/tx-decode
chmod +x bin/tx-decode
PATH=$PWD/bin:$PATH sh "$TX_SOURCE/examples/prompt.sh" m template --beam 1 < lines > prompts
printf '%s\n' 'user: b a & a c ' 'user: b \1 \n {} c ' 'user: b  c ' 'user: b ab c ' > wanted
expect_same wanted prompts
grep -qx -- '-m m --pieces --beam 1' options || fail 'options are not passed on'
expect_status 2 sh "$TX_SOURCE/examples/prompt.sh" m
