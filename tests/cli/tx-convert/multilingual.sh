# NLLB, M2M-100, BART and mBART directories of Hugging Face: log P and translations equal those of the package
# transformers (tests/golden/make_multilingual.py); how languages are selected and reported.
same_as_theirs() { # DIR LOG-P OPTION...: compares log P of the given translations
  folder=$1 wanted=$2
  shift 2
  tx-decode -m m --precision fp32 --tgt "$folder/target" "$@" "$folder/source" | cut -f 2 > ours
  [ "$(wc -l < ours)" -eq 22 ] || fail 'log P of a line is missing'
  paste ours "$wanted" | awk '
    { d = $1 - $2; if (d < 0) d = -d; if (d > 2e-5 * -$2) { print NR ": " $0; bad = 1 } }
    END { exit bad }' >&2 || fail "log P differs from transformers: $wanted"
}
greedy() { # DIR OPTION...
  folder=$1
  shift
  expect_status 0 tx-decode -m m --precision fp32 --beam 1 --max-extra 12 "$@" "$folder/source"
  expect_stdout_file "$folder/greedy"
}

m2m=$TX_SOURCE/tests/golden/m2m100
expect_status 0 tx-convert -o m "$m2m"
expect_stderr 'tx-convert: wrote m, converted from an M2M-100 or NLLB model'
same_as_theirs "$m2m" "$m2m/log_p" --target-language cs
greedy "$m2m" --target-language cs
greedy "$m2m" --target-language __cs__
tx-decode -m m --describe > described
grep -q '^  en  source$' described || fail 'the language of the directory is not listed'
grep -q '^  de$' described || fail 'not every language is listed'

# BART, whose outputs begin with <s>, the first mBART, which has set languages, and mBART-50.
bart=$TX_SOURCE/tests/golden/bart
expect_status 0 tx-convert -o m "$bart"
expect_stderr 'tx-convert: wrote m, converted from a BART model'
same_as_theirs "$bart" "$bart/log_p"
tx-decode -m m --describe > described
for line in 'taken from BART of Hugging Face' '  positions        learned, 64 of them, the first is 2' \
  '  norms            post, layer, epsilon 1e-05, of embeddings too' '  a source         <s> X </s>' \
  '  an output        begins with the token 2 of the original, then <s>' \
  '  never output     <pad> <s>_ <unk>'; do
  grep -qxF "$line" described || fail "not described: $line"
done
greedy "$bart"
expect_status 1 tx-attn-dump -m m "$bart/source"
expect_stderr_contains 'tx-attn-dump cannot be used with m, whose outputs begin with a set token'
tx-train -q --init m --src "$bart/source" --tgt "$bart/target" --steps 2 --threads 1 -o tuned
expect_status 0 tx-decode -q -m tuned "$bart/source"
mbart=$TX_SOURCE/tests/golden/mbart
expect_status 0 tx-convert -o m "$mbart"
expect_stderr 'tx-convert: wrote m, converted from an mBART model from en_XX to de_DE'
same_as_theirs "$mbart" "$mbart/log_p"
greedy "$mbart"
cp -r "$mbart" broken
sed 's/"src_lang": "en_XX"/"src_lang": "en_US"/' "$mbart/tokenizer_config.json" \
  > broken/tokenizer_config.json
expect_status 1 tx-convert -q -o none broken
expect_stderr_contains 'the language "en_US" is not in the vocabulary'
mbart=$TX_SOURCE/tests/golden/mbart50
expect_status 0 tx-convert -q -o m "$mbart"
same_as_theirs "$mbart" "$mbart/log_p" --target-language de_DE
greedy "$mbart" --target-language de_DE

# T5 1.1, with tokenizer.json and with spiece.model alone.
t5=$TX_SOURCE/tests/golden/t5
expect_status 0 tx-convert -o m "$t5"
expect_stderr 'tx-convert: wrote m, converted from a T5 model'
same_as_theirs "$t5" "$t5/log_p"
greedy "$t5"
printf 'ab <extra_id_0> dog\n' | expect_status 0 tx-bpe encode -m m
expect_stdout '▁ab <extra_id_0> ▁dog'
tx-train -q --init m --src "$t5/source" --tgt "$t5/target" --steps 30 --batch-tokens 256 --threads 1 \
  -o fine
tx-decode -m fine --precision fp32 --tgt "$t5/target" "$t5/source" | cut -f 2 > tuned_p
[ "$(awk '{ s += $1 } END { print int(s) }' tuned_p)" -gt \
  "$(awk '{ s += $1 } END { print int(s) }' "$t5/log_p")" ] || fail 'training raised no log P'
expect_status 0 tx-attn-dump -m m "$t5/source"
expect_status 1 tx-attn-dump -m m --html page.html --live
expect_stderr_contains '--positions relative'
# A page of attention does not compute weights from queries and keys, for want of the biases.
expect_status 0 tx-attn-dump -m m --what weights,q,k,v --html page.html "$t5/source"
grep -q '"q":' page.html && fail 'the page has queries'
mkdir listed
cp "$t5/config.json" "$t5/generation_config.json" "$t5/model.safetensors" "$t5/spiece.model" listed
expect_status 0 tx-convert -q -o m listed
same_as_theirs "$t5" "$t5/log_p"
tx-decode -q -m m --precision fp32 --beam 1 --max-extra 12 "$t5/source" > ours
sed 's/^ //' "$t5/greedy" > wanted  # SentencePiece removes spaces at the beginning
expect_same wanted ours
sed 's/"gated-gelu"/"gated-tanh"/' "$t5/config.json" > listed/config.json
expect_status 1 tx-convert -q -o none listed
expect_stderr_contains 'feed_forward_proj is "gated-tanh", which is not supported'

nllb=$TX_SOURCE/tests/golden/nllb
expect_status 0 tx-convert -q -o m "$nllb"
same_as_theirs "$nllb" "$nllb/log_p" --target-language deu_Latn
greedy "$nllb" --target-language deu_Latn
expect_usage_error 'm has 3 languages: give --target-language, one of' tx-decode -m m
expect_usage_error '--source-language xx is not among the 3 languages of m' \
  tx-decode -m m --source-language xx --target-language deu_Latn
expect_usage_error 'm is a multilingual model whose languages are not set' \
  tx-train -q --init m --src "$nllb/source" --tgt "$nllb/target" --steps 1 -o run

# Another language gives another output, which does not contain the language token.
tx-decode -q -m m --target-language ace_Arab "$nllb/source" > other
cmp -s other "$nllb/greedy" && fail 'the target language changes nothing'
tx-decode -q -m m --target-language deu_Latn --source-language ace_Arab --scores "$nllb/source" \
  > from_other
tx-decode -q -m m --target-language deu_Latn --scores "$nllb/source" > from_stated
cmp -s from_stated from_other && fail 'the source language changes nothing'
tx-decode -q -m m --target-language deu_Latn "$nllb/source" > wanted
# Tags go where the output, which begins with a set token, is aligned to.
sed 's/.*/<p>&<\/p>/; s/ / <b\/>/' "$nllb/source" > tagged
expect_status 0 tx-decode -q -m m --target-language deu_Latn --markup html tagged
grep -o '<[^>]*>' tagged > parts
grep -ao '<[^>]*>' "$TX_LAST/stdout" | cmp - parts || fail "$(last_stdout)"
tx-bpe encode -m m < "$nllb/source" > cut
grep -q '^eng_Latn ' cut || fail 'the language token is not first'
tx-decode -q -m m --target-language deu_Latn --pieces cut > joined
grep -q Latn joined && fail 'an output contains a language token'
tx-bpe decode -m m < joined > text
expect_same wanted text
sed 's/^eng_Latn //' cut | tx-decode -q -m m --target-language deu_Latn --pieces > bare
expect_same joined bare

# All searches and constraints, which are batch-invariant.
for options in '--beam 4' '--beam 4 --no-repeat 3' '--sample --seed 5' '--beam 4 --diversity 0.5'; do
  # shellcheck disable=SC2086
  tx-decode -q -m m --target-language deu_Latn $options "$nllb/source" > whole
  [ "$(wc -l < whole)" -eq 22 ] || fail "lines are missing with $options"
  sed -n 3p "$nllb/source" > third
  # shellcheck disable=SC2086
  case $options in
    *sample*) ;;
    *)
      tx-decode -q -m m --target-language deu_Latn $options third > alone
      [ "$(cat alone)" = "$(sed -n 3p whole)" ] || fail "not batch-invariant with $options"
      ;;
  esac
done
printf 'ab dog\tto go\n' | tx-decode -m m --target-language deu_Latn --prefix > begun
grep -q '^to go' begun || fail 'the prefix does not follow the language token'
expect_status 0 tx-decode -m m --target-language deu_Latn --check-invariance "$nllb/source"

# Sources with the language token at the end.
cp -r "$nllb" legacy
sed 's/"legacy_behaviour": false/"legacy_behaviour": true/' "$nllb/tokenizer_config.json" \
  > legacy/tokenizer_config.json
cmp -s "$nllb/tokenizer_config.json" legacy/tokenizer_config.json && fail 'nothing to edit'
expect_status 0 tx-convert -q -o m legacy
same_as_theirs "$nllb" "$nllb/log_p.legacy" --target-language deu_Latn

# Languages set in the file need no option; such a file can be fine-tuned.
expect_status 0 tx-convert -q --target-language deu_Latn -o m "$nllb"
same_as_theirs "$nllb" "$nllb/log_p"
greedy "$nllb"
tx-decode -m m --describe | grep -q '^  deu_Latn  target$' || fail 'the target language is not listed'
awk '{ s += $1 } END { print s }' ours > before
tx-train -q --init m --src "$nllb/source" --tgt "$nllb/target" --steps 30 --batch-tokens 256 \
  --threads 1 -o run
tx-decode -m run --precision fp32 --tgt "$nllb/target" "$nllb/source" | cut -f 2 |
  awk '{ s += $1 } END { print s }' > after
awk -v after="$(cat after)" -v before="$(cat before)" 'BEGIN { exit !(after > before) }' ||
  fail "log P fell in 30 steps: $(cat before) to $(cat after)"

# The token of the language is no word.
printf 'ab\n' > ab
printf '0-0\n' > links
tx-convert -q --target-language de -o named "$m2m"
expect_status 0 tx-bpe shortlist -m named --src ab --tgt ab --links links --first 0 -o -
expect_stdout_contains '▁ab'
expect_stdout_lacks '__en__'
expect_status 1 tx-train --init named --src ab --tgt ab --guided-alignment links --steps 1 -o none
expect_stderr_contains '--guided-alignment cannot be used with --init named, a multilingual model'
expect_usage_error 'the vocabulary of a converted model cannot be restricted' \
  tx-bpe encode -m named --vocabulary ab ab

# To CTranslate2: the SentencePiece models, and a bias that excludes tokens.
expect_status 0 tx-convert -q --to ctranslate2 -o ct2 named
expect_same ct2/source.spm "$m2m/sentencepiece.bpe.model"
od -A n -v -t x1 ct2/model.bin | tr -d '\n' | grep -q ' 28 6b 6e ce' || fail 'no bias is -1e9'

# Reading attention is not supported for multilingual models.
expect_status 1 tx-decode -m m --alignments words "$nllb/source"
expect_stderr_contains 'cannot be used with m, a multilingual model'
expect_status 1 tx-attn-dump -m m "$nllb/source"
expect_stderr_contains 'tx-attn-dump cannot be used with m, a multilingual model'
expect_status 0 tx-convert -q -o unstated "$nllb"
expect_status 1 tx-attn-dump -m unstated "$nllb/source"
expect_stderr_contains 'tx-attn-dump cannot be used with unstated, a multilingual model'
