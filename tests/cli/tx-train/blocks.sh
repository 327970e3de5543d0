# Later blocks in training: bit-identical after resume and recomputation, saved with the model,
# decoded by every tool; contradictory options are errors.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
head -n 5 valid.en > few.en
check() { # NAME OPTION...
  name=$1
  shift
  small_train "$@" -o "$name" 2> run.log || fail "$(cat run.log)"
  small_train "$@" --steps 6 -o again 2> run.log || fail "$(cat run.log)"
  expect_status 0 tx-train --resume again --steps 12 --recompute
  [ "$(weights_hash "$name/model-12.safetensors")" = "$(weights_hash again/model-12.safetensors)" ] ||
    fail "$*: weights differ after --resume with --recompute"
  expect_status 0 tx-decode -m "$name" --check-invariance few.en
  expect_status 0 tx-decode -m "$name" --precision int8 few.en
  [ "$(wc -l < "$TX_LAST/stdout")" = 5 ] || fail "$*: int8"
  expect_status 0 tx-attn-dump -m "$name" --what weights,masked,q,k few.en
  rm -rf again
}
check modern --preset modern --heads 4 --dropout 0.1
check far --positions rotary --kv-heads 1 --window 4 --activation geglu --rotary-scaling llama3 \
  --rotary-factor 4 --no-scaled-embeddings --relu-dropout 0.1
check distances --positions alibi --tie embeddings --output-bias --activation silu --norm-type rms
check other --positions fairseq --norm-position pre --activation gelu-tanh --attention-bias \
  --scaled-init --norm-epsilon 1e-5
check lesson --no-scaled-attention --no-causal-mask
check residual --no-residual --dropout 0.1
check norms --norm-type none --norm-position pre --dropout 0.1
check neither --no-residual --norm-type none --no-ffn-bias
check recurrent --decoder-memory ssru --attention-bias --norm-position pre --dropout 0.1
check forgetful --decoder-memory none --norm-position pre --dropout 0.1
check attentive --d-ff 0 --dropout 0.1
check qwen --norm-position pre --norm-type rms --positions rotary --attention-bias \
  --no-attention-output-bias --head-norm --kv-heads 1 --dropout 0.1
check bart --positions learned --embedding-norm --attention-bias --dropout 0.1
check unplaced --positions none --accumulate 2 --attention-dropout 0.1

# The model file describes its blocks.
header=$(head -c 3000 modern/model-12.safetensors)
for part in 'window\":0' 'kv_heads\":2' 'norm_type\":\"rms' 'positions\":\"rotary' 'activation\":\"swiglu' \
  'feed_forward_bias\":false'; do
  case $header in *"$part"*) ;; *) fail "the model file lacks $part" ;; esac
done
case $(head -c 3000 lesson/model-12.safetensors) in
  *'scaled_attention\":false'*'causal_mask\":false'*) ;;
  *) fail "the model file lacks the ablation" ;;
esac
! head -c 20000 neither/model-12.safetensors | grep -aq '_norm\.' || fail "norms with --norm-type none"
case $(head -c 3000 neither/model-12.safetensors) in
  *'norm_type\":\"none'*'residual\":false'*) ;;
  *) fail "the model file lacks the ablations" ;;
esac
for kind in decoder encoder; do
  for options in "--no-residual" "--no-residual --norm-position post" "--norm-type none" \
    "--head-norm" "--embedding-norm --output-layer"; do
    [ $kind = decoder ] && options=${options% --output-layer}
    # shellcheck disable=SC2086  # lists of words
    expect_status 0 tx-train --preset toy --kind $kind --vocab bpe.model --src train.en --threads 1 \
      --steps 3 $options -o one
    if [ $kind = decoder ]; then
      expect_status 0 tx-decode -m one --max-new 5 few.en
      expect_status 0 tx-attn-dump -m one few.en
    else
      expect_status 0 tx-decode -m one --embed mean few.en
    fi
    rm -r one
  done
done
expect_status 0 tx-avg -o mean.safetensors modern/model-9.safetensors modern/model-12.safetensors
expect_status 0 tx-avg --to int8 -o int8.safetensors mean.safetensors
tx-decode -m mean.safetensors --precision int8 --scores few.en > wanted || fail "mean"
tx-decode -m int8.safetensors --scores few.en > got || fail "int8"
cmp wanted got || fail "8-bit weights from the file differ"

recomputed --precision bf16 --preset modern --heads 4
recomputed --precision bf16 --decoder-memory ssru

# One vector per layer instead of attention: forced beginnings, beams, sampling and copies of a line.
expect_status 0 small_train --decoder-memory ssru --describe
expect_stdout_contains 'c_t = f_t c_(t-1) + (1 - f_t) u_t'
tx-decode -m recurrent --beam 4 --nbest 2 few.en > alone || fail "n-best"
for i in 1 2 3 4 5 6 7 8; do cat few.en; done > many.en
tx-decode -m recurrent --beam 4 --nbest 2 --threads 3 many.en | head -n "$(wc -l < alone)" > together
cmp alone together || fail "a translation depends on others"
tx-decode -m recurrent --beam 1 few.en > free || fail "greedy"
sed 's/.*/d/' few.en > begun
paste few.en begun > pairs
expect_status 0 tx-decode -m recurrent --beam 2 --prefix pairs
[ "$(last_stdout | grep -c '^d')" = 5 ] || fail "a translation does not begin with its prefix"
expect_status 0 tx-decode -m recurrent --tgt free few.en
expect_status 0 tx-attn-dump -m recurrent few.en
case $(last_stdout) in *decoder.0*) fail "self-attention of a recurrent decoder" ;; esac
expect_status 2 tx-attn-dump -m recurrent --kinds decoder few.en
expect_stderr_contains '--kinds decoder: the model has no decoder attention'
expect_status 1 tx-attn-dump -m recurrent --live --html page.html
expect_stderr_contains 'has a recurrent decoder (--decoder-memory ssru), which the page cannot run'
expect_status 0 tx-attn-dump -m recurrent --html page.html few.en

# A left-out sub-layer has no weights. Without self-attention in the decoder, log P of a token
# depends on the one before it and on nothing earlier.
! head -c 20000 forgetful/model-12.safetensors | grep -q 'decoder[^{]*self_attn' || fail "self-attention"
! head -c 20000 attentive/model-12.safetensors | grep -q 'ffn' || fail "feed-forward networks"
head -n 1 few.en > one.en
last_log_p() { # MODEL TARGET
  echo "$2" > one.de
  tx-decode -m "$1" --tgt one.de --json one.en | sed 's/.*"piece_log_p": *\[\([^]]*\)\].*/\1/; s/.*,//'
}
[ "$(last_log_p forgetful 'c b c')" = "$(last_log_p forgetful 'b b c')" ] || fail "the decoder remembers"
[ "$(last_log_p modern 'c b c')" != "$(last_log_p modern 'b b c')" ] || fail "the decoder forgets"
for model in forgetful attentive; do
  expect_status 1 tx-attn-dump -m $model --live --html page.html
  expect_status 1 tx-convert --to ctranslate2 -o x $model
done
expect_stderr_contains 'it was trained with --d-ff 0'
expect_status 1 tx-attn-dump -m bart --live --html page.html
expect_stderr_contains 'bart has --embedding-norm, which the page cannot run'
expect_status 1 tx-convert --to ctranslate2 -o x recurrent
expect_stderr_contains 'its decoder is recurrent (--decoder-memory ssru)'

refused "--kv-heads 3 does not divide --heads 4: use --kv-heads 2" --heads 4 --kv-heads 3
refused "--positions rotary rotates pairs of features: --d-k 5 must be even" --positions rotary --d-k 5
expect_status 2 tx-train --kind decoder --src train.en --vocab bpe.model --decoder-memory ssru -o x
expect_stderr_contains '--decoder-memory cannot be used with --kind decoder: it has no cross-attention'
refused "--rotary-base" --rotary-base 500
refused "--rotary-factor" --positions rotary --rotary-factor 2
tx-train --help-all | sed -n '/^Ablations:/,/^$/p' > ablations
[ "$(grep -c '^ *--' ablations)" -eq 3 ] || fail "not the three ablations: $(cat ablations)"
