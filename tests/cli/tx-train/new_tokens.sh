# Tokens and languages are added to the model of --init. With --freeze-old-tokens the rows of the
# others keep their bits. A killed run resumes bit-identically, and other tools read the model.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
printf '<2de>\n' > symbols
sed -i 's/^/<2de> /' train.en valid.en
tx-bpe train --vocab-size 300 --user-symbols symbols -o bpe.model train.en train.de 2> /dev/null
small_train -o first 2> run.log || fail "$(cat run.log)"
sed -i 's/^<2de>/<2nl>/' train.en valid.en
printf 'zwei\nvier\n' > tokens
small_train() { # that of train.sh, from the model `first`
  # shellcheck disable=SC2086  # a list of words
  $runner tx-train --init first --add-tokens tokens --add-language '<2nl>=<2de>' $small_texts --threads 1 \
    --precision fp32 --batch-tokens 200 --steps 12 --save-every 3 --log-every 1 --weight-decay 0.1 \
    --schedule inverse-sqrt --lr 0.02 --warmup 4 "$@"
}

# rows MODEL FIRST COUNT: rows of the embedding, the first tensor; d-model is 32.
rows() {
  head=$(od -An -t u8 -N 8 "$1" | tr -d ' ')
  tail -c +$((9 + head + 128 * $2)) "$1" | head -c $((128 * $3))
}
size=$(tx-bpe vocab -m first | wc -l)
tag=$(($(tx-bpe vocab -m first | grep -n '<2de>' | cut -d : -f 1) - 1))
rows first/last.safetensors 0 "$size" > old
rows first/last.safetensors $tag 1 > old-tag

# Before the first step the language has the row of the one it starts from.
expect_status 0 small_train --lr 1e-30 --weight-decay 0 --steps 1 -o start
tx-bpe vocab -m start | tail -n 3 | cut -f 2 > found
printf 'zwei\nvier\n<2nl>\n' > expected
expect_same expected found
rows start/last.safetensors 0 "$size" > start-rows
rows start/last.safetensors $((size + 2)) 1 > start-tag
expect_same old start-rows
expect_same old-tag start-tag

for optimizer in adam sgd muon; do
  for run in "$optimizer" "$optimizer-frozen"; do
    [ "$run" = "$optimizer" ] || set -- --freeze-old-tokens
    expect_status 0 small_train --optimizer $optimizer --lr 0.01 "$@" -o "$run"
    rows "$run/last.safetensors" 0 "$size" > "rows-$run"
    rows "$run/last.safetensors" $((size + 2)) 1 > "tag-$run"
    ! cmp -s old-tag "tag-$run" || fail "$run: the new row was not trained"
  done
  set --
  ! cmp -s old "rows-$optimizer" || fail "$optimizer: old rows were not trained"
  expect_same old "rows-$optimizer-frozen"
done
expect_status 0 tx-train --resume adam-frozen --steps 15
rows adam-frozen/model-15.safetensors 0 "$size" > rows-resumed
expect_same old rows-resumed

# The same without the model of --init and the tokens, which a resumed run does not read.
whole_run --freeze-old-tokens
stop_at model:2 state:2 links:2 rename:9
random_kills 2 1
begin_run || fail "$(cat stopped.log)"
mv first moved && mv tokens tokens.moved
resume_run || fail "$(cat stopped.log)"
mv moved first && mv tokens.moved tokens

sed "/frozen_tokens/,/]/d" whole/config.json > other && mv other whole/config.json
expect_error "tx-train: whole/config.json: frozen_tokens does not fit the options" tx-train --resume whole

# A recorded step is that of the frozen rows, too.
small_train --freeze-old-tokens --schedule constant --lr 1e38 --warmup 0 -o broken 2> run.log || true
expect_status 0 tx-train --replay broken
expect_stderr_contains "bit-identical to the record"
expect_status 0 small_train --describe
expect_stdout_contains "($((size + 3)), 32)"
expect_status 0 small_train --parity

# The tokens are one token each for every tool.
printf '<2nl> one zweivier\n' > line
tx-bpe encode -m adam < line > encoded
grep -q ' zwei vier$' encoded || fail "$(cat encoded)"
expect_status 0 tx-decode -m adam --threads 1 < line
expect_stdout_lines 1
expect_status 0 tx-attn-dump -m adam < line
expect_stdout_contains '"<2nl>"'
expect_status 0 tx-attn-dump -m adam --html page.html --live < line
expect_status 0 tx-convert --to ctranslate2 -o ct2 adam
[ "$(grep -c zwei ct2/shared_vocabulary.json)" = 1 ] || fail "$(ls ct2)"
expect_status 0 tx-avg -o average.safetensors adam/model-9.safetensors adam/model-12.safetensors

# What cannot be done.
expect_usage_error "--add-tokens needs --init" \
  tx-train --src train.en --tgt train.de --vocab bpe.model --add-tokens tokens -o none
expect_usage_error "--freeze-old-tokens needs" \
  tx-train --init first --src train.en --tgt train.de --freeze-old-tokens -o none
expect_usage_error "a resumed run keeps its options" tx-train --resume adam --add-tokens tokens
refused "--add-language <2fr>=<2es>: first has no token <2es>" --add-language '<2fr>=<2es>'
refused "--add-language <2de>=<2de>: <2de> is already a token of first" --add-language '<2de>=<2de>'
refused "--add-language <2nl>=<2de>: <2nl> is added twice" --add-language '<2nl>=<2de>'
refused "--add-language <2fr>=: give TAG=FROM" --add-language '<2fr>'
bad_tokens() { # TEXT MESSAGE
  printf '%b' "$1" > tokens
  expect_status 1 small_train -o none
  expect_stderr_contains "tx-train: tokens:2: $2"
  expect_no_file none
}
bad_tokens 'fünf\n<2de>\n' "<2de> is already a token of first"
bad_tokens 'fünf\n\n' "an empty line is not a symbol"
bad_tokens 'fünf\ntwo words\n' "a symbol cannot contain white space or control characters"
bad_tokens 'fünf\n</s>\n' "</s> is a special token of every model"
bad_tokens 'fünf\nfünf\n' "fünf occurs twice"
