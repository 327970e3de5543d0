# --stats: tables and JSON, the same for any number of threads; pairs in constant memory.
make_model model
awk 'BEGIN { for (i = 0; i < 200; ++i) { for (j = 0; j <= i % 9; ++j) printf "w%d ", 4 + (i * 7 + j) % 50; print "" } }' > in
expect_status 0 tx-attn-dump -m model --stats heads --threads 1 --tgt in in
expect_stdout_lines 25
last_stdout > one
head -n 1 one | grep -q "^kind	layer	head	rows	entropy	distance	previous	self	next	first	eos	punctuation	confidence	equal	induction	rarest$" ||
  fail 'the head of the table'
# 200 lines; rows are tokens and </s>.
awk -F '\t' 'NR > 1 && ($4 != 1193 || NF != 16 || $5 < 0 || $13 > 1) { exit 1 }' one || fail 'the figures'
for threads in 2 3; do
  expect_status 0 tx-attn-dump -m model --stats heads --threads $threads --tgt in in
  expect_stdout_file one
done
# rarest: counted in the whole text. The rarest tokens are w59, w58 and, in line 3, </s>.
printf 'w5 w59\nw58 w5\nw5 w5\n' > rare
tx-attn-dump -m model --kinds encoder --layers 0 --heads 0 --digits 9 --tgt rare rare |
  sed 's/.*"encoder":\[\[\[\[\(.*\)\]\]\]\]}/\1/; s/\],\[/\n/g' |
  awk -F , '{ column = NR <= 3 ? 2 : NR <= 6 ? 1 : 3; sum += $column } END { printf "%.5f\n", sum / NR }' > wanted
for how in '' --words; do
  tx-attn-dump -m model --stats heads --kinds encoder --layers 0 --heads 0 --digits 5 $how --tgt rare rare |
    sed -n 2p | cut -f 16 | cmp - wanted || fail "rarest $how"
done
# The figures agree with the weights.
tx-attn-dump -m model --kinds encoder --layers 1 --heads 2 --digits 9 --tgt in in |
  sed 's/.*"encoder":\[\[\[\[\(.*\)\]\]\]\]}/\1/' | sed 's/\],\[/\n/g' |
  awk -F , '{ first += $1; end += $NF; ++n } END { printf "%.4f %.4f\n", first / n, end / n }' > means
awk -F '\t' '$1 == "encoder" && $2 == 1 && $3 == 2 { printf "%.4f %.4f\n", $10, $11 }' one | cmp - means
expect_status 0 tx-attn-dump -m model --stats heads --format json --tgt in in
expect_stdout_contains '{"lines":200,"heads":[{"kind":"encoder","layer":0,"head":0,"rows":1193,"entropy":'
# --digits applies to both formats.
for what in heads pairs scores importance; do
  tx-attn-dump -m model --stats $what --kinds cross --digits 2 --format json --tgt in in |
    grep -oE '[a-z]+":-?[0-9.]+(e[-0-9]+)?' | sed 's/.*://' > figures
  grep -qE '[.][0-9]' figures || fail "no figure in JSON of $what"
  ! grep -vxE -e '-?[0-9]+([.][0-9]{1,2})?' figures || fail "JSON of $what has other digits"
done
expect_status 0 tx-attn-dump -m model --stats pairs --kinds cross --digits 3 --tgt in in
expect_stdout_lines 29
expect_stdout_contains "cross	0	3	1	2	0."
# scores: the variance of the scores in the records, and the same divided by d_k.
expect_status 0 tx-attn-dump -m model --stats scores --kinds decoder --layers 0 --heads 1 --digits 9 --tgt in in
last_stdout > scores
tx-attn-dump -m model --what scores,masked --kinds decoder --layers 0 --heads 1 --digits 9 --tgt in in > record
awk -F '"masked"' '{
    n = split($1, line, "\"scores\":{\"decoder\":")
    split(line[n], raw, ","); m = split($2, masked, ",")
    for (i = 1; i <= m; ++i) if (masked[i] !~ /null/) {
      gsub(/[^-0-9.]/, "", raw[i]); sum += raw[i]; squares += raw[i] ^ 2; ++count } }
  END { print count, sum / count, squares / count - (sum / count) ^ 2 }' record > wanted
awk 'NR == FNR { for (i = 1; i <= 3; ++i) w[i] = $i; next }
  FNR == 2 { ok = $4 == w[1] && ($5 - w[2]) ^ 2 < 1e-8 && ($6 - w[3]) ^ 2 < 1e-8 && ($6 / $7 - 8) ^ 2 < 1e-4 }
  END { exit !ok || FNR != 2 }' wanted scores || fail "$(cat wanted scores)"
expect_status 0 tx-attn-dump -m model --stats scores --threads 3 --kinds decoder --layers 0 --heads 1 --digits 9 --tgt in in
expect_stdout_file scores
expect_status 0 tx-attn-dump -m model --stats scores --format json --tgt in in
expect_stdout_contains '{"lines":200,"heads":[{"kind":"encoder","layer":0,"head":0,"scores":'
expect_usage_error '--words cannot be used with --stats scores: scores are between tokens' \
  tx-attn-dump -m model --stats scores --words in
expect_status 0 tx-attn-dump -m model --stats heads < /dev/null
expect_stdout_lines 25
expect_stdout_contains "cross	1	3	0	0.000000	"

cat in in in in in in in > long
for text in in long; do
  tx-attn-dump -m model --stats pairs --tgt $text $text > out &
  watch_memory $!
  wait $!
  peaks="${peaks:-} $peak"
done
set -- $peaks
# The sanitizers delay the release of memory.
[ $(($2 - $1)) -lt 3072 ] || [ "$TX_SANITIZE" = ON ] || fail "memory grows from $1 to $2 KiB"
