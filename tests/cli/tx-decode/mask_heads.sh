# Heads switched off: nothing of them is left, and one that the model lacks is named with those it has.
make_model model layers 2
printf 'w5 w6 w7\nw9 w8 w4\nw5 w5 w20\n' > in
decode='tx-decode -m model --precision fp32 --max-extra 5 --scores'
$decode in > all
[ "$(sort -u all | wc -l)" -eq 3 ] || fail 'the model does not read its source'

# Without cross-attention a translation knows only how long its source is.
$decode --mask-heads 'cross.*.*' in > blind
[ "$(sort -u blind | wc -l)" -eq 1 ] || fail 'something of the source is left'
$decode --mask-heads 'encoder.*.*,cross.0.*,cross.1.*' in | cmp - blind || fail 'a list is a union'

# One head changes something, each another thing; int8 and bf16 leave it out too.
for head in encoder.0.0 encoder.1.1 decoder.0.1 cross.1.0; do
  $decode --mask-heads $head in > "$head"
  cmp -s all "$head" && fail "$head changed nothing"
done
cmp -s encoder.0.0 encoder.1.1 && fail 'two heads are one'
for precision in bf16 int8; do
  tx-decode -m model --precision $precision --scores --mask-heads 'cross.*.*' in > half
  [ "$(sort -u half | wc -l)" -eq 1 ] || fail "$precision keeps heads"
done

expect_usage_error "--mask-heads: 'middle.0.0' is not KIND.LAYER.HEAD, such as encoder.0.1; this model has the kinds encoder, decoder, cross" \
  tx-decode -m model --mask-heads middle.0.0 in
expect_usage_error "--mask-heads cross.2.0: '2' is not one of its layers (0 to 1, or * for all)" \
  tx-decode -m model --mask-heads cross.2.0 in
expect_usage_error 'is not one of its heads (0 to' tx-decode -m model --mask-heads cross.1.99 in
expect_usage_error "'cross.1' is not KIND.LAYER.HEAD" tx-decode -m model --mask-heads cross.1 in
expect_usage_error "'' is not KIND.LAYER.HEAD" tx-decode -m model --mask-heads cross.1.0, in
