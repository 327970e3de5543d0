# A MarianMT directory of Hugging Face: log P and greedy translations equal those of the package
# transformers (tests/golden/make_marian.py); round trip; fine-tuning.
folder=$TX_SOURCE/tests/golden/marian
expect_status 0 tx-convert -o m.safetensors "$folder"
expect_empty_stdout
expect_stderr 'tx-convert: wrote m.safetensors, converted from a MarianMT model'

tx-decode -m m.safetensors --precision fp32 --tgt "$folder/target.de" "$folder/source.en" |
  cut -f 2 > ours
[ "$(wc -l < ours)" -eq 22 ] || fail 'log P of a line is missing'
paste ours "$folder/log_p" | awk '
  { d = $1 - $2; if (d < 0) d = -d; if (d > 2e-5 * -$2) { print "line " NR ": " $0; bad = 1 } }
  END { exit bad }' >&2 || fail 'log P differs from transformers'
expect_status 0 tx-decode -m m.safetensors --precision fp32 --beam 1 --max-extra 12 \
  "$folder/source.en"
expect_stdout_file "$folder/greedy.de"
grep -q '>>xx<<' "$folder/source.en" || fail 'no line starts with a tag'

# With renormalize_logits, as OPUS-MT has it, log P is among the tokens that may be output: not >>xx<<.
cp -r "$folder" renormalized
sed -i '1s/{/{ "renormalize_logits": true,/; s/^      32/      31], [32/' renormalized/generation_config.json
expect_status 0 tx-convert -q -o r.safetensors renormalized
tx-decode -m r.safetensors --precision fp32 --tgt "$folder/target.de" "$folder/source.en" |
  cut -f 2 | paste ours - | awk '$2 < $1 { exit bad = 1 } $2 > $1 + 1e-4 { ++more }
    END { exit bad || more < 11 }' || fail 'not renormalised'

# Round trip.
expect_status 0 tx-convert -q --to marian -o hf m.safetensors
for file in source.spm target.spm; do expect_same "$folder/$file" hf/$file; done
expect_status 0 tx-convert -q -o again.safetensors hf
expect_status 0 tx-decode -m again.safetensors --precision fp32 --beam 1 --max-extra 12 \
  "$folder/source.en"
expect_stdout_file "$folder/greedy.de"
expect_status 0 tx-convert -q --to marian -o hf2 again.safetensors
expect_same hf/model.safetensors hf2/model.safetensors
expect_same hf/vocab.json hf2/vocab.json

# Fine-tuning keeps the vocabulary and reduces the loss.
tx-train -q --init m.safetensors --src "$folder/source.en" --tgt "$folder/target.de" --steps 30 \
  --batch-tokens 256 --threads 1 -o run
expect_status 0 tx-decode -m run --precision fp32 --tgt "$folder/target.de" "$folder/source.en"
last_stdout | cut -f 2 | awk '{ s += $1 } END { print s }' > after
awk '{ s += $1 } END { print s }' ours > before
awk -v after="$(cat after)" -v before="$(cat before)" 'BEGIN { exit !(after > before) }' ||
  fail "log P fell in 30 steps: $(cat before) to $(cat after)"
