# Models trained by Marian (tests/golden/make_marian_npz.py): log P and translations equal
# Marian's; places of vocabularies; fine-tuning; broken directories.
golden=$TX_SOURCE/tests/golden/marian_npz
decoded() { # MODEL OPTION...
  model=$1
  shift
  expect_status 0 tx-decode -q -m "$model" --precision fp32 "$@" "$golden/source.en"
}
for form in tied pre untied ssru; do
  expect_status 0 tx-convert -o $form.safetensors "$golden/$form"
  expect_empty_stdout
  expect_stderr "tx-convert: wrote $form.safetensors, converted from a model of Marian"
  decoded $form.safetensors --tgt "$golden/target.de"
  last_stdout | cut -f 2 > ours
  [ "$(wc -l < ours)" -eq 16 ] || fail 'log P of a line is missing'
  paste ours "$golden/$form/log_p" | awk '
    { d = $1 - $2; if (d < 0) d = -d; m = -$2 > 1 ? -$2 : 1 }
    d > 2e-5 * m { print "line " NR ": " $0; bad = 1 }
    END { exit bad }' >&2 || fail "$form: log P differs from Marian"
  [ $form != pre ] || continue
  decoded $form.safetensors --beam 1
  expect_stdout_file "$golden/$form/greedy.de"
done

# Firefox's three files: the weights keep their 8 bits, and the list becomes a shortlist.
expect_status 0 tx-convert -o firefox.safetensors "$golden/firefox"
expect_stderr_contains 'tx-convert: wrote firefox.shortlist, for --shortlist of tx-decode'
expect_status 0 tx-decode -m firefox.safetensors --describe
expect_stdout_contains 'decoder.layers.0.recurrence.in_proj.weight         12 x 12  int8'
printf '\t</s>\t1\n\t<unk>\t0.5\n' > wanted
head -n 2 firefox.shortlist | cmp - wanted || fail 'not the first tokens of the vocabulary'
expect_status 0 grep -x '▁six	▁sechs	1' firefox.shortlist
decoded firefox.safetensors --tgt "$golden/target.de"
last_stdout | cut -f 2 | paste - "$golden/ssru/log_p" | awk '
  { d = $1 - $2; off += d < 0 ? -d : d; all -= $2 } END { print off / all; exit off > 0.02 * all }' >&2 ||
  fail 'weights of 8 bits are far from those of 32'
decoded firefox.safetensors --beam 1
last_stdout | diff - "$golden/ssru/greedy.de" | grep -c '^>' > differ || true
[ "$(cat differ)" -le 3 ] || fail "$(cat differ) of 16 translations differ from those of 32 bits"
tx-decode -q -m firefox.safetensors --shortlist firefox.shortlist "$golden/source.en" > listed ||
  fail 'a shortlist cannot be used'
expect_status 0 tx-convert -q -o - "$golden/firefox"
expect_stderr_contains 'its shortlist is not written, since --out is -'
cp -r "$golden/firefox" two
cp two/model.ende.intgemm.alphas.bin two/model.bin
expect_status 1 tx-convert -o x two
expect_stderr_contains 'two has several files *.bin: '
rm two/model.ende.intgemm.alphas.bin
cp two/vocab.ende.spm two/srcvocab.spm
mv two/vocab.ende.spm two/trgvocab.spm
expect_status 0 tx-convert -q -o two.safetensors two
printf x >> two/lex.50.50.ende.s2t.bin
expect_status 1 tx-convert -o x two
expect_stderr_contains 'lex.50.50.ende.s2t.bin is damaged or not a binary shortlist of Marian: its size'
expect_no_file x

# Files that name the vocabularies; without them, vocab.spm is used for both. JSON is accepted too.
mkdir named
cp "$golden/tied/vocab.spm" named/vocab.spm
printf 'beam-size: 12\nnormalize: 0\n' > named/model.npz.decoder.yml
cp "$golden/tied/model.npz" named/model.npz
expect_status 0 tx-convert -q -o again named
expect_same again tied.safetensors
rm named/model.npz.decoder.yml
mv named/model.npz named/best.npz
printf 'models: [far/away/best.npz]\nvocabs: [/a/vocab.spm, vocab.spm]\n' > named/decoder.yml
printf 'beam-size: 12\nnormalize: 0\n' >> named/decoder.yml
expect_status 0 tx-convert -q -o again named
expect_same again tied.safetensors

# The settings of Marian's decoder are defaults.
printf 'beam-size: 6\nnormalize: 1.0\nword-penalty: 0.5\nallow-unk: true\nn-best: false\n' \
  > named/model.npz.decoder.yml
sed -i '/beam-size/d; /normalize/d' named/decoder.yml
mv named/decoder.yml named/config.yml
expect_status 0 tx-convert -q -o own named
expect_stderr_contains 'named/model.npz.decoder.yml has word-penalty 0.5, which tx does not have'
expect_stderr_contains 'normalize becomes --alpha'
expect_status 0 tx-decode -m own --describe
last_stdout | grep -A 2 '^defaults' > shown
printf 'defaults\n  --beam 6\n  --alpha 1.0\n' > wanted
expect_same wanted shown

cp -r "$golden/pre" json
awk 'BEGIN { printf "{" }
  { sub(/: /, "\": "); sub(/^/, "\""); printf "%s%s", (NR > 1 ? ", " : ""), $0 }
  END { print "}" }' json/vocab.en.yml > json/vocab.en.json
rm json/vocab.en.yml
sed -i 's/en.yml/en.json/' json/model.npz.decoder.yml
expect_status 0 tx-convert -q -o again json
expect_same again pre.safetensors

# With source.spm, as in OPUS-MT models, raw text is accepted.
cp -r "$golden/pre" opus
cp "$golden/tied/vocab.spm" opus/source.spm
cp "$golden/tied/vocab.spm" opus/target.spm
sed -i 's/^two:/▁two:/; s/^six:/▁six:/' opus/vocab.en.yml
expect_status 0 tx-convert -q -o opus.safetensors opus
printf 'two six\n' > text
for model in pre opus; do
  expect_status 0 tx-decode -q -m $model.safetensors --precision fp32 --beam 1 --nbest 1 text
  last_stdout | cut -f 3 > $model.score
done
expect_same pre.score opus.score

# Conversion to CTranslate2; fine-tuning keeps the vocabulary and reduces the loss.
expect_status 0 tx-convert -q --to ctranslate2 -o ct2 tied.safetensors
tx-train -q --init tied.safetensors --src "$golden/source.en" --tgt "$golden/target.de" --steps 30 \
  --batch-tokens 256 --threads 1 -o run
sum() {
  tx-decode -q -m "$1" --precision fp32 --tgt "$golden/target.de" "$golden/source.en" |
    awk -F '\t' '{ s += $2 } END { print s }'
}
awk -v after="$(sum run)" -v before="$(sum tied.safetensors)" \
  'BEGIN { exit !(after > before) }' || fail 'log P fell in 30 steps'

golden=$golden/pre
. "$TX_SOURCE/tests/cli/broken_folder.sh"
broken <<'END'
rm f/vocab.de.yml => f/model.npz.decoder.yml names the vocabulary vocab.de.yml, which is not in f
rm f/model.npz.decoder.yml => f has no vocabulary: no vocab*.spm, no vocab.yml and no vocabs in decoder.yml
sed -i '$d' f/vocab.de.yml => f/vocab.de.yml has 12 tokens, but decoder_Wemb of f/model.npz has 13 rows
echo 'more: 13' >> f/vocab.en.yml; sed -i 's/^one: 12more: 13/one: 12\nmore: 13/' f/vocab.en.yml => f/vocab.en.yml has 14 tokens, but encoder_Wemb of f/model.npz has 13 rows
sed -i '3s/.*/.: 3/' f/vocab.en.yml => f/vocab.en.yml: the token "six" must have an id of its own
sed -i '3s/.*/.: [2/' f/vocab.en.yml => f/vocab.en.yml:3: the list is not closed on this line
sed -i 's/^<unk>/<unknown>/' f/vocab.en.yml => f/vocab.en.yml has no token <unk>
sed -i 's/vocab.en.yml/vocab.fsv/' f/model.npz.decoder.yml; cp f/vocab.en.yml f/vocab.fsv => f/vocab.fsv is a factored vocabulary, which is not supported
sed -i 's/vocab.en.yml/vocab.txt/' f/model.npz.decoder.yml; cp f/vocab.en.yml f/vocab.txt => f/vocab.txt is not a supported vocabulary
sed -i 's/^  - .*model.npz/&\n  - other.npz/' f/model.npz.decoder.yml => f/model.npz.decoder.yml names 2 models: put each into a directory of its own
sed -i '/vocab.de/d' f/model.npz.decoder.yml => f/model.npz.decoder.yml names 1 vocabularies
printf '\na: {b: c}\n' >> f/model.npz.decoder.yml => f/model.npz.decoder.yml:13: YAML syntax "{" is not supported
shorten model.npz 9000 => f/model.npz
END
