# A masked language model: which tokens are masked does not depend on batches or on resuming, and
# validation always masks the same ones.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
small_texts="--kind encoder --src train.en --valid-src valid.en"
whole_run --precision fp32 --threads 1 --bpe-dropout 0.1
stop_at rename:1 state model:2
random_kills 2 5
rm -rf whole

same_masks
grep -q bits_per_byte first/log.jsonl && fail 'bits per byte, although not all tokens are predicted'

# It learns to predict masked words from their neighbours.
small_train --steps 150 --save-every 150 --dropout 0 -o learned 2> run.log || fail "$(cat run.log)"
grep -o '"validation_accuracy":[0-9.]*' first/log.jsonl learned/log.jsonl | cut -d : -f 3 |
  awk 'NR == 1 { first = $1 } END { exit !($1 > 0.2 && $1 > 3 * first) }' ||
  fail "$(grep validation_accuracy first/log.jsonl learned/log.jsonl)"

refused '--cross-documents needs --kind decoder' --cross-documents
refused '--decoder-layers cannot be used with --kind encoder' --decoder-layers 2
