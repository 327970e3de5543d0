# A MarianMT folder of Hugging Face: the probabilities and translations that the package
# transformers gives (tests/golden/make_marian.py), greedy; there and back; fine-tuning.
folder=$TX_SOURCE/tests/golden/marian
expect_status 0 tx-convert -o m.safetensors "$folder"
expect_empty_stdout
expect_stderr 'tx-convert: wrote m.safetensors, made from a MarianMT model'

tx-decode -m m.safetensors --precision fp32 --tgt "$folder/target.de" "$folder/source.en" |
  cut -f 2 > ours
[ "$(wc -l < ours)" -eq 22 ] || fail 'not every line has its log P'
paste ours "$folder/log_p" | awk '
  { d = $1 - $2; if (d < 0) d = -d; if (d > 2e-5 * -$2) { print "line " NR ": " $0; bad = 1 } }
  END { exit bad }' >&2 || fail 'log P differs from what transformers gives'
expect_status 0 tx-decode -m m.safetensors --precision fp32 --beam 1 --max-extra 12 \
  "$folder/source.en"
expect_stdout_file "$folder/greedy.de"
grep -q '>>xx<<' "$folder/source.en" || fail 'no line begins with a tag'

# There and back.
expect_status 0 tx-convert -q --to marian -o hf m.safetensors
for file in source.spm target.spm; do expect_same "$folder/$file" hf/$file; done
expect_status 0 tx-convert -q -o again.safetensors hf
expect_status 0 tx-decode -m again.safetensors --precision fp32 --beam 1 --max-extra 12 \
  "$folder/source.en"
expect_stdout_file "$folder/greedy.de"
expect_same m.safetensors again.safetensors

# Fine-tuning keeps the vocabulary and learns.
tx-train -q --init m.safetensors --src "$folder/source.en" --tgt "$folder/target.de" --steps 30 \
  --batch-tokens 256 --threads 1 -o run
expect_status 0 tx-decode -m run --precision fp32 --tgt "$folder/target.de" "$folder/source.en"
last_stdout | cut -f 2 | awk '{ s += $1 } END { print s }' > after
awk '{ s += $1 } END { print s }' ours > before
awk -v after="$(cat after)" -v before="$(cat before)" 'BEGIN { exit !(after > before) }' ||
  fail "30 steps made the text less likely: $(cat before) to $(cat after)"
