# A language model is trained on one text: killed anywhere it resumes bit-identically, and its
# figures per token, word and byte are consistent.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
small_texts="--kind decoder --src train.en --valid-src valid.en"
whole_run --precision fp32 --threads 1 --context 9 --bpe-dropout 0.1
grep -o '"validation_perplexity.*' whole/log.jsonl | tail -n 1 > figures
stop_at rename:1 state model:2 pruning:1
random_kills 2 3

# All figures are of the same text: nll per token times tokens is nll per word times words.
words=$(wc -w < valid.en) bytes=$(wc -c < valid.en)
pieces=$(tx-bpe encode -m bpe.model < valid.en | wc -w) lines=$(wc -l < valid.en)
figure() { sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p" figures; }
awk -v pieces=$((pieces + lines)) -v words="$words" -v bytes="$bytes" \
  -v p="$(figure validation_perplexity)" -v w="$(figure validation_word_perplexity)" \
  -v b="$(figure validation_bits_per_byte)" 'BEGIN {
    nll = pieces * log(p); a = words * log(w) / nll; c = bytes * b * log(2) / nll
    exit !(a > 0.9999 && a < 1.0001 && c > 0.9999 && c < 1.0001) }' || fail "$(cat figures)"
rm -rf whole

# Documents may outnumber the sequences that hold them.
expect_status 0 small_train --cross-documents --context 64 --batch-tokens 400 --steps 1 -o joined
rm -rf joined

# The same weights with and without --recompute, with documents split into several parts.
sed 's/$/\n/' train.en | awk 'NR % 8 != 2' > paragraphs
small_texts="--kind decoder --src paragraphs --valid-src valid.en --documents paragraphs"
for options in "--precision fp32 --cross-documents --context 16" "--precision bf16 --context 40"; do
  # shellcheck disable=SC2086  # a list of words
  recomputed $options --layers 2 --dropout 0.1 || continue # no bf16 here
  rm -rf again kept.safetensors
  expect_status 0 tx-avg -q --last 2 -o kept.safetensors kept
  # --init takes the kind of its model.
  expect_status 0 tx-train --init kept.safetensors --src train.en --schedule constant --lr 0.001 \
    --steps 2 --batch-tokens 200 --threads 1 -o again
  expect_status 0 tx-train --report kept again -o page.html
  rm -rf again kept
done
small_train --context 50 -o kept 2> run.log || fail "$(cat run.log)"
expect_status 0 tx-train --resume kept --describe
expect_stdout_contains 'decoder.layers.0.self_attn.q_proj.weight'
expect_stdout_lacks 'encoder.'
expect_status 0 tx-train --kind decoder --describe --html page.html

# Conflicting options: the message names both.
small_texts="--kind decoder --src train.en --valid-src valid.en"
refused '--tgt cannot be used with --kind decoder: it trains on one text' --tgt train.de
refused '--valid-tgt cannot be used with --kind decoder' --valid-tgt valid.de
refused '--encoder-layers cannot be used with --kind decoder' --encoder-layers 2
refused '--max-length cannot be used with --kind decoder' --max-length 9
refused '--cross-documents cannot be used with --bpe-dropout' --cross-documents --bpe-dropout 0.1
refused '--valid-metric bleu cannot be used with --kind decoder' --valid-metric bleu
small_texts="--src train.en"
refused '--context needs --kind decoder, encoder or --denoise' --context 9 --tgt train.de
refused '--src and --tgt go together'
each_row expect_usage_error tx-train <<'END'
--init kept --kind encoder-decoder --src train.en --tgt train.de -o none => --kind encoder-decoder contradicts the model of --init kept
--init kept --src train.en --tgt train.de -o none => --tgt cannot be used with --kind decoder
--kind decoder --vocab bpe.model --src train.en --batch-tokens 10 --layers 1 -o none => --batch-tokens 10 is too small for sentences of
--resume kept --kind encoder => --kind cannot be used with --resume
END
