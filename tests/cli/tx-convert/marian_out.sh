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
refused 'cannot be converted to MarianMT: its vocabulary is not a SentencePiece model' words

# A recurrent model becomes one of Marian's own, or for Firefox, and comes back; with 8 bits as the
# same whole numbers.
tx-bpe train --vocab-size 272 -o even.model train.src train.tgt 2> /dev/null
bin() { # NAME OPTION...
  name=$1
  shift
  train_small "$name" --vocab even.model --decoder-memory ssru --positions fairseq --d-model 64 --d-ff 64 "$@"
}
bin student --attention-bias --output-bias --norm-position post --activation relu
expect_status 0 tx-convert --to marian -o own student
expect_stderr_contains 'tx-convert: wrote own, a directory for Marian'
expect_same own/vocab.spm even.model
expect_status 0 tx-convert -q -o back.safetensors own
# Marian's softmax lacks <pad> and <s>, 2 of 272 tokens of this untrained model: 0.0074 a token.
for model in student back.safetensors; do
  tx-decode -q -m $model --precision fp32 --tgt train.tgt train.src | cut -f 2 > "$model.log_p"
done
paste student.log_p back.safetensors.log_p | awk '
  { d = $2 - $1; if (d < 0.01 || d > 0.1) bad = 1 } END { exit bad || NR != 60 }' ||
  fail "log P differs: $(paste student.log_p back.safetensors.log_p | head -n 3)"
expect_status 0 tx-convert --to firefox -o three student
expect_stderr_contains 'tx-convert: wrote three, a directory for Bergamot, the engine of Firefox'
expect_status 0 tx-convert -q -o eight.safetensors three
expect_status 0 tx-decode -m eight.safetensors --describe
expect_stdout_contains 'decoder.layers.0.recurrence.in_proj.weight         64 x 64  int8'
expect_status 0 tx-convert -q --to firefox -o again3 eight.safetensors
cmp -l three/model.intgemm8.bin again3/model.intgemm8.bin > bytes || true  # multipliers are rounded
[ "$(wc -l < bytes)" -le 16 ] || fail "whole numbers differ: $(cat bytes)"
# With a text, each matrix of a product has the multiplier of its inputs, and the output a second
# one; with a shortlist there is lex.bin. Neither changes the weights.
tx-attn-dump -m student --align --words --tgt train.tgt train.src > links
tx-bpe shortlist -q -m student --src train.src --tgt train.tgt --links links --first 20 --best 5 -o list
expect_status 0 tx-convert -q --to firefox --calibrate train.src --shortlist list -o full student
grep -qx 'gemm-precision: int8shiftAlphaAll' full/config.yml || fail 'config.yml ignores the ranges'
grep -qx 'shortlist: \[lex.bin, false\]' full/config.yml || fail 'config.yml ignores the shortlist'
matrices=$(tx-decode -m eight.safetensors --describe | grep -c ' x .* int8 ')
multipliers=$(tr '\0' '\n' < full/model.intgemm8.bin | grep -a -c '_QuantMultA$')
[ "$multipliers" -eq $((matrices + 1)) ] || fail "$multipliers multipliers of $matrices matrices"
expect_status 0 tx-convert -q -o full.safetensors full
for precision in fp32 int8; do
  for files in 'eight.safetensors --shortlist list' 'full.safetensors --shortlist full.shortlist'; do
    # shellcheck disable=SC2086
    tx-decode -q --precision $precision --scores -m $files train.src > "${files%%.*}.$precision"
  done
done
expect_same eight.fp32 full.fp32
cmp -s eight.int8 full.int8 && fail 'the multipliers do not matter'
expect_status 0 tx-convert -q --to firefox -o full3 full.safetensors
grep -qx 'gemm-precision: int8shiftAlphaAll' full3/config.yml || fail 'the multipliers are lost'
printf '\n' > blank
expect_status 1 tx-convert --to firefox --calibrate blank -o none student
expect_stderr_contains 'tx-convert: blank has no text'
expect_no_file none
bin plain --norm-position pre --activation silu --tie none
expect_status 0 tx-convert -q --to marian -o pre_own plain
expect_status 0 tx-convert -q -o pre_back.safetensors pre_own

unfit() { # TEXT OPTION...
  text=$1
  shift
  rm -rf unfit
  bin unfit "$@"
  expect_status 1 tx-convert --to firefox -o none unfit
  expect_stderr_contains "cannot be converted to Firefox's format: $text"
  expect_no_file none
}
unfit 'its d_ff is 72, which must be a multiple of 64' --d-ff 72
unfit 'its positions are sinusoid; train with --positions fairseq' --positions sinusoid
unfit 'it uses RMSNorm' --norm-type rms
unfit 'its decoder begins with <s>, but Marian' --decoder-memory attention
