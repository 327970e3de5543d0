# A model trained for four steps: one record per line; every row of every map sums to 1.
awk 'BEGIN {
  for (i = 1; i <= 60; ++i) {
    s = t = ""
    for (j = 0; j < 2 + i % 4; ++j) { w = "w" (i * 7 + j * 3) % 10; s = s w " "; t = w " " t }
    print s > "src"; print t > "tgt"
  }
}'
expect_status 0 tx-train --src src --tgt tgt --preset toy --vocab words --steps 4 --save-every 4 \
  -o run
printf 'w1 w2 w3\n\n \t\nw4 unseen w4' > in
expect_status 0 tx-attn-dump -m run < in
expect_stderr "tx-attn-dump: warning: standard input:4: 'unseen' is not in the vocabulary and becomes <unk>"
expect_stdout_lines 4
last_stdout > records

# Each record names its format, the model and the hashes of its vocabularies.
hash=$(sed -n '1s/.*"source_vocabulary":"\([0-9a-f]*\)".*/\1/p' records)
[ ${#hash} -eq 16 ] || fail "the hash $hash"
head="{\"format_version\":1,\"model\":\"run/model-4.safetensors\""
head="$head,\"source_vocabulary\":\"$hash\",\"target_vocabulary\":\"$hash\""
# rows FILE: the rows of all maps, as numbers.
rows() { grep -o '\[[0-9][0-9.,e-]*\]' "$1" | grep -v '^\[[0-9]*\(,[0-9]*\)*\]$' | tr -d '[]'; }
for line in 1 4; do
  sed -n "${line}p" records > record
  grep -q "^$head,\"line\":$line,\"source\":\[\"w" record || fail "the start of record $line"
# Weights have six decimals. With 2 layers of 4 heads the encoder alone has 32 rows.
  rows record | awk -F , '
    { sum = -1; for (i = 1; i <= NF; ++i) sum += $i; if (sum * sum > (1e-6 * NF) ^ 2) bad = 1 }
    END { exit bad || NR < 32 }' || fail "the rows of record $line"
done
sed -n 4p records | grep -qF '"source":["w4","<unk>","w4","</s>"],"input":["<s>"' ||
  fail 'the tokens of line 4'
for line in 2 3; do
  printf '%s,"line":%d,"source":[],"input":[],"target":[],' "$head" $line
  printf '"source_ids":[],"target_ids":[],'
  [ $line -eq 2 ] && printf '"text":"",' || printf '"text":" \\t",'
  printf '"translation":"","forced":false,"average":"none","heads":[0,1,2,3],'
  printf '"layers":{"encoder":[0,1],"decoder":[0,1],"cross":[0,1]},'
  printf '"rows":{"encoder":"source","decoder":"target","cross":"target"},'
  printf '"columns":{"encoder":"source","decoder":"input","cross":"source"},'
  printf '"encoder":[],"decoder":[],"cross":[]}\n'
done > blank
sed -n 2,3p records | cmp - blank

# The same bytes for any number of threads and from a model file.
for threads in 1 3; do
  expect_status 0 tx-attn-dump -m run/model-4.safetensors --threads $threads in
  expect_stdout_file records
done

# A selection, a mean, fewer digits.
expect_status 0 tx-attn-dump -m run --kinds cross,encoder --layers 1 --heads 0,2-3 --digits 1 in
expect_stdout_contains '"heads":[0,2,3],"layers":{"encoder":[1],"cross":[1]},'
expect_stdout_contains '"columns":{"encoder":"source","cross":"source"},"encoder":[[[['
expect_stdout_lacks '"decoder"'
last_stdout | grep -q '0\.[0-9][0-9]' && fail 'more than one digit'
expect_status 0 tx-attn-dump -m run --kinds encoder --average all in
expect_stdout_contains '"average":"all"'
last_stdout | head -n 1 | grep -q '"encoder":\[\[\[\[[0-9.,]*\]\(,\[[0-9.,]*\]\)*\]\]\]}$' ||
  fail 'one map should be left'
