# --qkv: attention of given matrices; the calculator agrees with a model.
cat > three.json <<'END'
{"q": [[1, 0], [0, 1], [1, 1]],
 "k": [[1, 0], [0, 1], [1, 1]],
 "v": [[1, 0], [0, 1], [1, 1]]}
END
expect_status 0 tx-attn-dump --qkv three.json --digits 4
expect_empty_stderr
last_stdout | sed -n '/^scores/,$p' > steps
diff - steps <<'END' || fail 'the steps'
scores = q k^T: 3 x 3 (queries x keys), variance 0.321
  1  0  1
  0  1  1
  1  1  2

scaled = scores / sqrt(2): 3 x 3 (queries x keys), variance 0.1605
  0.7071  0.0000  0.7071
  0.0000  0.7071  0.7071
  0.7071  0.7071  1.4142

masked = scaled, mask none: 3 x 3 (queries x keys)
  0.7071  0.0000  0.7071
  0.0000  0.7071  0.7071
  0.7071  0.7071  1.4142

weights = softmax(masked): 3 x 3 (queries x keys), each row sums to 1
  0.4011  0.1978  0.4011
  0.1978  0.4011  0.4011
  0.2483  0.2483  0.5035

context = weights v: 3 x 2 (queries x d_v), the output
  0.8022  0.5989
  0.5989  0.8022
  0.7517  0.7517
END
last_stdout > text
expect_status 0 tx-attn-dump --qkv - --digits 4 -o out < three.json
expect_empty_stdout
expect_same text out
sed 's/}$/, "mask": "causal", "temperature": 2}/' three.json > causal.json
expect_status 0 tx-attn-dump --qkv causal.json --format json --digits 2
expect_stdout_contains '{"d_k":2,"temperature":2.0,"mask":"causal","q":[[1.0,0.0],'
expect_stdout_contains '"masked":[[0.35,null,null],'
expect_stdout_contains '"weights":[[1.0,0.0,0.0],[0.41,0.59,0.0],'
sed 's/}$/, "temperature": 0.01}/' three.json > cold.json
expect_status 0 tx-attn-dump --qkv cold.json --format json --digits 1
expect_stdout_contains '"temperature":0.01,'
expect_status 0 tx-attn-dump --qkv cold.json --digits 1
expect_stdout_contains 'scaled = scores / (sqrt(2) * 0.01)'

# The queries, keys and values of a model give its weights.
make_model model kind decoder
printf 'w5 w6 w7 w8\n' > in
tx-attn-dump -m model --what q,k,v,weights,context --kinds decoder --layers 1 --heads 2 --digits 9 in > record
matrix() { # NAME FILE
  grep -o "\"$1\":{\"decoder\":\[\[\[*[^{}]*" "$2" | sed 's/^[^[]*\[\[//; s/\]\]$//'
}
printf '{"q": %s, "k": %s, "v": %s, "mask": "causal"}\n' "$(matrix q record)" \
  "$(matrix k record)" "$(matrix v record)" > head.json
expect_status 0 tx-attn-dump --qkv head.json --format json --digits 9
last_stdout | grep -o '"weights":[^a-z]*' | tr -c '0-9.\n' ' ' > got
grep -o '"decoder":\[\[\[\[[^a-z{}]*' record | tr -c '0-9.\n' ' ' | sed -n 1p > wanted
awk '{ for (i = 1; i <= NF; ++i) { if (NR == 1) got[i] = $i; else if ($i - got[i] > 1e-5 || got[i] - $i > 1e-5) bad = 1 }
    if (NF != 25) bad = 1 }
  END { exit bad || NR != 2 }' got wanted || fail "$(cat got wanted)"

# Errors.
printf '{"q": [[1, NaN]], "k": [[1, 2]], "v": [[1]]}\n' > bad.json
expect_status 1 tx-attn-dump --qkv bad.json
expect_empty_stdout
expect_stderr 'tx-attn-dump: bad.json: q, row 1, column 2 is "NaN", not a number'
printf '{"q": [[1, 2]\n' > bad.json
expect_status 1 tx-attn-dump --qkv bad.json
expect_stderr 'tx-attn-dump: bad.json: not valid JSON at byte 15'
expect_status 1 tx-attn-dump --qkv missing.json
expect_stderr 'tx-attn-dump: cannot read missing.json: No such file or directory'
expect_usage_error 'missing option: -m FILE (model file or run directory), or --qkv FILE' tx-attn-dump
expect_usage_error '--model cannot be used with --qkv: it needs no model and no text' \
  tx-attn-dump -m model --qkv three.json
expect_usage_error "argument 'in' cannot be used with --qkv" tx-attn-dump --qkv three.json in
expect_usage_error '--format safetensors is not supported with --qkv: give --format json' \
  tx-attn-dump --qkv three.json --format safetensors
expect_usage_error '--heatmap cannot be used with --qkv' tx-attn-dump --qkv three.json --heatmap
