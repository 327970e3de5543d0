# --to marian: a directory for MarianMT of Hugging Face; unsupported models are errors.
. "$TX_SOURCE/tests/cli/small_run.sh"
write_text train 60
tx-bpe train --vocab-size 300 -o bpe.model train.src train.tgt 2> /dev/null
train_small run --vocab bpe.model --norm-position post --activation relu
expect_status 0 tx-convert --to marian -o hf run
expect_empty_stdout
expect_stderr_contains 'tx-convert: wrote hf, a directory for MarianMT of Hugging Face'
expect_stderr_contains 'the LayerNorm epsilon of MarianMT is 1e-05'
expect_same hf/source.spm bpe.model
expect_same hf/target.spm bpe.model
tx-bpe vocab -m bpe.model | awk -F '\t' '{ print $2 " " $1 }' > wanted
sed -n 's/^  "\(.*\)": \([0-9]*\),*$/\1 \2/p' hf/vocab.json | sed 's/\\\(["\\]\)/\1/g' > pieces
expect_same wanted pieces
for line in '"decoder_start_token_id": 2' '"eos_token_id": 3' '"pad_token_id": 0' \
  '"scale_embedding": true' '"activation_function": "relu"' '"tie_word_embeddings": true'; do
  grep -qF "$line" hf/config.json || fail "config.json lacks $line"
done
expect_status 0 tx-convert -q --to marian -o again run
for file in model.safetensors config.json vocab.json; do expect_same hf/$file again/$file; done

refused() { # TEXT RUN
  expect_status 1 tx-convert --to marian -o none "$2"
  expect_stderr_contains "$1"
  expect_no_file none
}
train_small pre --vocab bpe.model --activation relu
refused 'cannot be converted to MarianMT: it uses pre-norm' pre
train_small learned --vocab bpe.model --norm-position post --positions learned --max-positions 20
refused 'cannot be converted to MarianMT: its positions are learned' learned
train_small bare --vocab bpe.model --norm-type none
refused 'cannot be converted to MarianMT: it was trained with --norm-type none' bare
train_small words --norm-position post
refused 'cannot be converted to MarianMT: its vocabulary is a word list' words
