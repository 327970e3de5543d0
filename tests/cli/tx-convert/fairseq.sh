# A fairseq checkpoint, and the same weights as an FSMT directory of Hugging Face: log P and
# greedy translations equal those of the package transformers (tests/golden/make_fairseq.py);
# broken or hostile directories are one line, status 1, no output.
golden=$TX_SOURCE/tests/golden/fairseq
expect_status 0 tx-convert -o fairseq.safetensors "$golden"
expect_stderr 'tx-convert: wrote fairseq.safetensors, converted from a Transformer of fairseq'
expect_status 0 tx-convert -o fsmt.safetensors "$TX_SOURCE/tests/golden/fsmt"
expect_stderr_contains 'tx-convert: wrote fsmt.safetensors, converted from an FSMT model'
expect_stderr_contains 'settings that tx does not have, so that outputs can differ: max_length 200'
expect_status 0 tx-decode -m fsmt.safetensors --describe
last_stdout | grep -qxF -e '  --beam 5' || fail 'the default of --beam is missing'
scored() { # MODEL
  expect_status 0 tx-decode -m "$1" --precision fp32 --tgt "$golden/target.de" "$golden/source.en"
  last_stdout | cut -f 2 > ours
  [ "$(wc -l < ours)" -eq 16 ] || fail 'log P of a line is missing'
  paste ours "$golden/log_p" | awk '
    { d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5 * -$2) { print "line " NR ": " $0; bad = 1 } }
    END { exit bad }' >&2 || fail "$1: log P differs from transformers"
}
for model in fairseq fsmt; do
  scored $model.safetensors
  expect_status 0 tx-decode -m $model.safetensors --precision fp32 --beam 1 --max-extra 12 \
    "$golden/source.en"
  last_stdout | sed 's/<bos>/<s>_/g' > ours
  expect_same ours "$golden/greedy.de"
done

# Fine-tuning keeps the vocabulary and reduces the loss.
tx-train -q --init fairseq.safetensors --src "$golden/source.en" --tgt "$golden/target.de" \
  --steps 30 --batch-tokens 256 --threads 1 -o run
sum() {
  tx-decode -q -m "$1" --precision fp32 --tgt "$golden/target.de" "$golden/source.en" |
    awk -F '\t' '{ s += $2 } END { print s }'
}
awk -v after="$(sum run)" -v before="$(sum fairseq.safetensors)" \
  'BEGIN { exit !(after > before) }' || fail 'log P fell in 30 steps'

# With its SentencePiece model, raw text is accepted: the same subwords have the same scores. A
# dictionary may mark a token that is also a special one.
cp -r "$golden" spm
cp "$TX_SOURCE/tests/golden/marian/source.spm" spm/source.spm
sed 's/^\(ab\|dog\|gold\|cold\|a\|b\|c\|go\|so\|abc\) /▁\1 /' "$golden/dict.en.txt" > spm/dict.en.txt
sed -i '2s/$/ #fairseq:overwrite/' spm/dict.de.txt
expect_status 0 tx-convert -q -o spm.safetensors spm
printf 'cold dog ab gold\nso go abc\n' > text
head -n 2 "$golden/target.de" > two
for model in fairseq spm; do
  expect_status 0 tx-decode -m $model.safetensors --precision fp32 --tgt two text
  last_stdout | cut -f 1,2 > $model.scores
done
expect_same fairseq.scores spm.scores

# A token that occurs twice is that of the later row.
cp -r "$golden" twice
sed -i -e '3s/.*/dog 1/' -e '5s/$/ #fairseq:overwrite/' twice/dict.en.txt
grep -q '^dog .*overwrite' twice/dict.en.txt || fail 'the fifth token is not dog'
expect_status 0 tx-convert -q -o twice.safetensors twice
for model in fairseq twice; do
  tx-decode -m $model.safetensors --precision fp32 --tgt "$golden/target.de" "$golden/source.en" |
    cut -f 2 > $model.scores
  paste $model.scores "$golden/source.en" | grep -v abc > $model.lines
done
expect_same fairseq.lines twice.lines

. "$TX_SOURCE/tests/cli/broken_folder.sh"
broken <<'END'
rm f/dict.de.txt => cannot read f/dict.tgt.txt
sed -i 3d f/dict.de.txt => f/dict.de.txt has 18 tokens including <s>, <pad>, </s> and <unk>, but decoder.embed_tokens
sed -i '3s/.*/cold 1/' f/dict.en.txt => the token "cold" occurs twice: end the line in " #fairseq:overwrite"
sed -i '3s/ .*//' f/dict.en.txt => f/dict.en.txt:3: expected a token, a space and its count
shorten checkpoint_best.pt 20000 => f/checkpoint_best.pt
hostile checkpoint_best.pt => its pickle refers to "os.system", which tensors do not need
printf '\200\002comegaconf.dictconfig\nDictConfig\n.' > f/checkpoint_best.pt => its pickle refers to "omegaconf.dictconfig.DictConfig"
cp "$TX_SOURCE/tests/golden/fsmt/"* f; rm f/checkpoint_best.pt; sed -i 's/"encoder_ffn_dim": 24/"encoder_ffn_dim": 25/' f/config.json => encoder_ffn_dim and decoder_ffn_dim differ
cp "$TX_SOURCE/tests/golden/fsmt/"* f; sed -i 's/"tgt_vocab_size": [0-9]*/"tgt_vocab_size": 7/' f/config.json => f/vocab-tgt.json has
cp "$TX_SOURCE/tests/golden/fsmt/"* f; sed -i 's/"<unk>"/"<unknown>"/' f/vocab-src.json => f/vocab-src.json has no token <unk>
END
expect_status 0 tx-convert -q -o out f
