# Models that people wrote in PyTorch (tests/golden/make_names.py): log P equals PyTorch's; tables
# that do not fit are one line that says what to write.
golden=$TX_SOURCE/tests/golden/names
scored() { # NAME, for NAME.pt converted to NAME.model
  expect_status 0 tx-decode -m "$1.model" --precision fp32 --strict --tgt "$golden/$1.target" \
    "$golden/$1.source"
  last_stdout | cut -f 2 > ours
  [ "$(wc -l < ours)" -eq 12 ] || fail 'log P of a line is missing'
  paste ours "$golden/$1.log_p" | awk '
    { d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5 * -$2) { print "line " NR ": " $0; bad = 1 } }
    END { exit bad }' >&2 || fail "$1: log P differs from PyTorch"
}
expect_status 0 tx-convert --names torch.nn.Transformer --heads 2 --vocab "$golden/en.txt" \
  --target-vocab "$golden/de.txt" -o words.model "$golden/words.pt"
expect_stderr 'tx-convert: wrote words.model, converted from a PyTorch model'
scored words
tx-decode -m words.model --describe > described
grep -q 'decoder.embedding.weight .* look-up, product' described || fail "$(cat described)"

cat > letters.names <<'END'
{"base": "torch.nn.Transformer", "config": {"norm": "pre", "heads": 2}, "text": "characters",
 "tokens": {"start": "^", "end": "$", "pad": "$"}}
END
expect_status 0 tx-convert --names letters.names --vocab "$golden/letters.json" -o letters.model \
  "$golden/letters.pt"
expect_stderr_contains 'letters.json has no unk token: unknown text is read as a vector of zeros'
scored letters
expect_status 0 tx-bpe encode -m letters.model <<'END'
aC[C@@H] Clé
END
expect_stdout '^ a C [C@@H] ▁ Cl é'

expect_status 0 tx-convert -q --names pytorch-seq2seq --heads 2 --vocab "$golden/old.txt" \
  -o tutorial.model "$golden/tutorial.pt"
scored tutorial
tx-attn-dump -m tutorial.model --kinds cross "$golden/tutorial.source" > records
[ "$(wc -l < records)" -eq 12 ] || fail "$(wc -l < records) records"

# It can be trained further. Its final norms after post-norm fit no other program.
tx-train -q --init words.model --src "$golden/words.source" --tgt "$golden/words.target" \
  --steps 30 --batch-tokens 256 --threads 1 -o run
sum() {
  tx-decode -q -m "$1" --precision fp32 --tgt "$golden/words.target" "$golden/words.source" |
    awk -F '\t' '{ s += $2 } END { print s }'
}
awk -v after="$(sum run)" -v before="$(sum words.model)" 'BEGIN { exit !(after > before) }' ||
  fail 'log P fell in 30 steps'
expect_status 1 tx-convert --to ctranslate2 -o ct2 words.model
expect_stderr_contains 'it was trained with final_norm'

# refused MESSAGE OPTION...: the last option is the checkpoint.
refused() {
  message=$1
  shift
  expect_status 1 tx-convert -o none "$@"
  expect_stderr_contains "$message"
  [ ! -e none ] || fail 'a model was written'
}
# table JSON: a table based on pytorch-seq2seq.
table() { echo "{\"base\": \"pytorch-seq2seq\", \"config\": {\"heads\": 2}, $1}" > changed.names; }
# changed MESSAGE JSON
changed() {
  table "$2"
  refused "$1" --names changed.names --vocab "$golden/old.txt" "$golden/tutorial.pt"
}
old="--vocab $golden/old.txt"
refused 'give --heads, or "heads" in "config"' --names pytorch-seq2seq $old "$golden/tutorial.pt"
refused 'the tables of tx are pytorch-seq2seq and torch.nn.Transformer' --names my.names $old \
  "$golden/tutorial.pt"
refused 'en.txt has no token "<sos>", which pytorch-seq2seq: "tokens" gives as the "start" of a' \
  --names pytorch-seq2seq --heads 2 --vocab "$golden/en.txt" "$golden/tutorial.pt"
head -n 9 "$golden/old.txt" > short.txt
refused 'short.txt has 9 tokens, but encoder.tok_embedding.weight has 10 rows' \
  --names pytorch-seq2seq --heads 2 --vocab short.txt "$golden/tutorial.pt"
changed 'if that is the one, add "encoder.layers.#.ffn.in_proj.*": "encoder.layers.#.positionwise_feedforward.fc_1.*" to "names"' \
  '"names": {"encoder.layers.#.ffn.in_proj.*": "encoder.layers.#.linear1.*"}'
changed 'has the tensor "decoder.fc_out.bias", which changed.names does not name: add a pattern such as "decoder.fc_out.*" to "names"' \
  '"names": {"output.bias": null}'
changed '"tok_embedding.weight", for encoder.embedding.weight, is both "decoder.tok_embedding.weight" and' \
  '"names": {"encoder.embedding.weight": "tok_embedding.weight"}'
changed '"decoder.fc_out.weight 1/3", for output.weight, cannot be divided: its shape is [10, 8]' \
  '"names": {"output.*": "decoder.fc_out.* 1/3"}'
changed 'must end in a part such as 1/3' '"names": {"output.*": "decoder.fc_out.* 3"}'
changed 'encoder.layers.0.ff_layer_norm.weight, for encoder.layers.0.ffn.out_proj.weight, has shape [8], but the configuration requires [8, 12]' \
  '"names": {"encoder.layers.#.ffn.out_proj.weight": "encoder.layers.#.ff_layer_norm.weight"}'
changed 'no tensor for output.weight, which changed.names does not name (set "tie" if it is an embedding)' \
  '"names": {"output.*": null}'
changed '"text" must be "words" or "characters"' '"text": "bytes"'
changed 'unknown key "name"' '"name": {}'
changed 'decoder.pos_embedding.weight is not the table of "sinusoid" positions, from position 0 on' \
  '"config": {"heads": 2, "positions": "sinusoid"}, "sinusoids": ["pos_embedding.weight"]'
echo '{"base": "loop.names"}' > loop.names
refused '"base" is nested too deeply' --names loop.names $old "$golden/tutorial.pt"
printf 'a\n\nb\n' > empty.txt
refused 'empty.txt: the token "" is empty or invalid UTF-8' --names pytorch-seq2seq --heads 2 \
  --vocab empty.txt "$golden/tutorial.pt"

# What is not a state dict, and what tx would compute differently.
printf '\200\002ctorch.nn\nTransformer\n)R.' > whole.pt
refused 'whole.pt: its pickle refers to "torch.nn.Transformer", which tensors do not need: nothing was run; save the weights alone, in Python torch.save(model.state_dict(), "weights.pt")' \
  --names pytorch-seq2seq --heads 2 $old whole.pt
printf '\105\0\0\0\0\0\0\0%s\0\0\0\0' '{"encoder.norm.a_2":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' > annotated.safetensors
refused 'annotated.safetensors: "encoder.norm.a_2" belongs to the norm of the Annotated Transformer' \
  --names pytorch-seq2seq --heads 2 $old annotated.safetensors
expect_status 2 tx-convert --names pytorch-seq2seq --heads 2 -o none "$golden/tutorial.pt"
expect_stderr_contains '--names needs the vocabulary: give --vocab'
expect_status 2 tx-convert -o none "$golden/tutorial.pt"
expect_stderr_contains 'tutorial.pt is a checkpoint of PyTorch: give --names and --vocab'
expect_status 2 tx-convert --heads 2 -o none "$golden/tutorial.pt"
expect_stderr_contains '--heads needs --names'
