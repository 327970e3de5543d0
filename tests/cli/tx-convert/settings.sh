# A model's own settings: defaults of options, tokens that end outputs or are never output, and
# what is refused or reported. The outputs are those of transformers with the same settings.
golden=$TX_SOURCE/tests/golden/llama
head -n 4 "$golden/prompts" > prompts
. "$TX_SOURCE/tests/cli/broken_folder.sh"
settings() { # JSON for generation_config.json
  printf '%s' "$1" > f/generation_config.json
  rm -f m.safetensors
  expect_status 0 tx-convert -q -o m.safetensors f
}
decoded() { expect_status 0 tx-decode -m m.safetensors --precision fp32 "$@" prompts; }
shows() { # LINE...: all of them in the description of the model
  for line; do last_stdout | grep -qxF -e "$line" || fail "the description lacks $line"; done
}
close() { # COLUMN WANTED: numbers that differ by at most 2e-4
  last_stdout | cut -f "$1" | paste - "$2" | awk '
    { d = $1 - $2; if (d < 0) d = -d; if (d > 2e-4) { print; bad = 1 } } END { exit bad }' >&2 ||
    fail "column $1 differs from $2"
}

# Several tokens that end an output.
settings '{"eos_token_id": [2, 289]}'
decoded --beam 1 --max-new 12
last_stdout | tail -n 1 > last
echo " g" > wanted
expect_same wanted last
decoded --beam 3 --alpha 0 --max-new 12 --scores
printf '%s\n' -39.1590 -35.8104 -24.4920 -7.2974 > wanted
close 2 wanted
last_stdout | tail -n 2 | cut -f 3 | sed 's/^ //' > texts
printf '%s\n' 'g motabcb gom' g > wanted
expect_same wanted texts
decoded --beam 3 --alpha 0 --max-new 12 --no-repeat 9 --scores # with rules
last_stdout | tail -n 2 | cut -f 3 | sed 's/^ //' > texts
expect_same wanted texts
decoded --sample --top-k 1 --max-new 12
[ "$(last_stdout | tail -n 1)" = " g" ] || fail 'a sample runs past the end'
expect_status 0 tx-decode -m m.safetensors --describe
shows 'tokens that end an output' '  co'
expect_status 0 tx-convert -q --to llama -o hf m.safetensors
grep -A 3 eos_token_id hf/generation_config.json | tr -d ' \n' | grep -qF '"eos_token_id":[2,289]' ||
  fail 'the exported model has one end'

# Tokens that are never output, and options.
settings '{"suppress_tokens": [305, 288], "bad_words_ids": [[296], [293]], "num_beams": 3,
  "length_penalty": 0.0, "max_new_tokens": 6, "eos_token_id": 2}'
decoded --scores
printf '%s\n' -19.8535 -19.4966 -18.4405 -19.2506 > wanted
close 2 wanted
last_stdout | cut -f 3 | sed 's/^ //' > texts
printf '%s\n' 'goodog baod dog' 'dodog oldot o' 'to cabt mo a' 'oabcot oldco gold' > wanted
expect_same wanted texts
expect_status 0 tx-decode -m m.safetensors --describe
shows defaults '  --beam 3' '  --alpha 0.0' '  --max-new 6'
rm -rf hf
expect_status 0 tx-convert -q --to llama -o hf m.safetensors
tr -d ' \n' < hf/generation_config.json | grep -qF '"suppress_tokens":[305,288,296,293]' ||
  fail 'the exported model has no suppress_tokens'
# The command line wins, also over a default that does not go with it; tx-avg keeps the defaults.
decoded --max-new 12
[ "$(last_stdout | wc -c)" -gt "$(wc -c < texts)" ] || fail '--max-new does not win'
decoded --beam 1
last_stdout > greedy
! cmp -s greedy texts || fail '--beam does not win'
decoded --nbest 4 --max-new 1
expect_stdout_lines 16
tx-avg -q --to int8 -o int8.safetensors m.safetensors
expect_status 0 tx-decode -m int8.safetensors --describe
shows '  --max-new 6'
settings '{"do_sample": true, "temperature": 0.5, "top_k": 5, "top_p": 0.9, "stop_strings": ["b"]}'
decoded --max-new 5
last_stdout > own
decoded --max-new 5 --sample --temperature 0.5 --top-k 5 --top-p 0.9 --stop b
expect_stdout_file own
decoded --max-new 5 --stop b --beam 1
last_stdout > beam
! cmp -s own beam || fail 'the default sample is not overridden by --beam'
expect_status 0 tx-decode -m m.safetensors --precision fp32 --perplexity prompts

# config.json counts where generation_config.json is missing.
rm f/generation_config.json
edit config.json 's/{/{"num_beams": 2, "min_new_tokens": 3,/'
expect_status 0 tx-convert -q -o old.safetensors f
expect_status 0 tx-decode -m old.safetensors --describe
shows defaults '  --beam 2' '  --min-length 3'

# Reported by name.
settings '{"repetition_penalty": 1.2, "typical_p": 1.0, "early_stopping": true, "length_penalty": 2,
  "max_length": 20, "min_length": 4, "new_key": 1, "newer_key": null, "use_cache": false,
  "num_beams": 1001, "encoder_no_repeat_ngram_size": 0}'
expect_stderr_contains 'f/generation_config.json has settings that tx does not have, so that outputs can differ: repetition_penalty 1.2, early_stopping true, max_length 20, num_beams 1001, min_length 4'
expect_stderr_contains 'f/generation_config.json has settings that are not known and ignored: new_key'
expect_stderr_contains 'length_penalty 2 becomes --alpha 2'
printf '{"do_lower_case": true, "sp_model_kwargs": {}, "odd": 1, "legacy": false}' \
  > f/tokenizer_config.json
settings '{}'
expect_stderr_contains 'tokens or text can differ: do_lower_case true'
expect_stderr_contains 'f/tokenizer_config.json has settings that are not known and ignored: odd'
rm f/tokenizer_config.json

# Refused by name.
with() { printf '%s' "$2" > "f/$1"; }
for setting in '"begin_suppress_tokens": [5]' '"sequence_bias": [[[5], -1.0]]' \
  '"force_words_ids": [[5]]' '"bad_words_ids": [[5, 6]]' '"forced_bos_token_id": 5'; do
  key=${setting#\"}
  with generation_config.json "{$setting}"
  refused "f/generation_config.json: ${key%%\"*} "
done
with generation_config.json '{"suppress_tokens": [320]}'
refused 'has the id 320, which is no token'
with generation_config.json '{"eos_token_id": "x"}'
refused 'eos_token_id is "x", not an id or a list of ids'
with generation_config.json '{"num_beams": "4"}'
refused 'num_beams is "4", a value of the wrong type'
with tokenizer_config.json '{"bos_token": "</s>"}'
refused 'bos_token is "</s>", but'
with tokenizer_config.json '{"add_eos_token": true}'
refused 'add_eos_token is true; only false is supported'
edit config.json 's/"vocab_size": [0-9]*/"vocab_size": 16777216/'
refused 'but vocab_size in config.json is 16777216'

# Text that begins without a space; the exported model says so too.
encoded() { # FOLDER WANTED
  rm -f m.safetensors
  expect_status 0 tx-convert -q -o m.safetensors "$1"
  echo 'dog ab' > text
  expect_status 0 tx-bpe encode -m m.safetensors text
  expect_stdout "$2"
}
encoded f '▁dog ▁ab'
printf '{"add_prefix_space": false, "legacy": false}' > f/tokenizer_config.json
encoded f 'dog ▁ab'
rm -rf hf
expect_status 0 tx-convert -q --to llama -o hf m.safetensors
encoded hf 'dog ▁ab'
