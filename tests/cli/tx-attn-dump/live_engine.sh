# label: node
# The engine in the page of --live against tx-decode and tx-attn-dump: beam search, forced prefixes,
# given targets, everything that can be changed in the model, and the values of a head.
need_node
. "$TX_SOURCE/tests/cli/train.sh"
# trained RUN OPTION...
trained() {
  run=$1
  shift
  small_train --steps 40 --save-every 40 --layers 2 "$@" -o "$run" 2> run.log || fail "$(cat run.log)"
}
# page NAME RUN [OPTION]...
page() {
  name=$1 run=$2
  shift 2
  tx-attn-dump -m "$run" --html "$name.html" --live "$@"
}
# decode RUN PRECISION OPTION... > NAME.CHECK
decode() {
  run=$1 precision=$2
  shift 2
  tx-decode -q -m "$run" --precision "$precision" --threads 1 --json "$@"
}
# attention RUN > NAME.attention
attention() {
  tx-attn-dump -m "$1" --what weights,q,k,v,scores,scaled,masked,context,output,log_p --tgt targets text
}

small_text
head -n 5 valid.en > text
head -n 5 valid.de > targets
cut -d ' ' -f 2 targets > prefixes
for file in text prefixes; do tx-bpe encode -m bpe.model $file > $file.pieces; done
paste text.pieces prefixes.pieces > prefixed # the page forces these tokens

trained post --norm-position post --attention-bias
page post post
decode post int8 --beam 4 text > post.beam
decode post int8 --beam 1 --prefix --pieces prefixed > post.prefix1
decode post int8 --beam 4 --prefix --pieces prefixed > post.prefix4
decode post int8 --tgt targets text > post.target

small_texts="--src train.en --valid-src valid.en"
trained decoder --kind decoder
page decoder decoder
decode decoder int8 --tgt targets text > decoder.target
small_texts="--src train.en --tgt train.de --valid-src valid.en --valid-tgt valid.de"

trained modern --norm-position pre --norm-type rms --activation swiglu --positions rotary --kv-heads 1
page modern modern --weights f16
decode modern fp32 --beam 1 --mask-heads encoder.0.1,decoder.1.0,cross.0.1 text > modern.heads
decode modern fp32 --beam 1 --mask-heads 'cross.1.*' text > modern.nocross
attention modern > modern.attention

trained unscaled --no-scaled-attention
page unscaled unscaled
decode unscaled int8 --beam 1 text > unscaled.greedy

trained unordered --positions none --norm-position post
page unordered unordered
decode unordered int8 --beam 1 text > unordered.greedy
page unordered-f16 unordered --weights f16
attention unordered > unordered-f16.attention

trained distant --positions alibi --window 3 --tie none --d-k 8 --d-v 12 --norm-position pre
page distant distant --weights f16
attention distant > distant.attention

trained uncausal --no-causal-mask
page uncausal uncausal --weights f16
attention uncausal > uncausal.attention

node "$TX_SOURCE/tests/node/engine_test.js"
