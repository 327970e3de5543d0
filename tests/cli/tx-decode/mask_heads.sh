# --mask-heads: masked heads have no effect; for an unknown head, the message lists those of the
# model.
make_model model layers 2
printf 'w5 w6 w7\nw9 w8 w4\nw5 w5 w20\n' > in
decode='tx-decode -m model --precision fp32 --max-extra 5 --scores'
$decode in > all
[ "$(sort -u all | wc -l)" -eq 3 ] || fail 'the model does not read its source'

# Without cross-attention a translation depends only on the length of its source.
$decode --mask-heads 'cross.*.*' in > blind
[ "$(sort -u blind | wc -l)" -eq 1 ] || fail 'the translation depends on the source'
$decode --mask-heads 'encoder.*.*,cross.0.*,cross.1.*' in | cmp - blind || fail 'a list of heads is not their union'

# Single heads have different effects; int8 and bf16 mask them too.
for head in encoder.0.0 encoder.1.1 decoder.0.1 cross.1.0; do
  $decode --mask-heads $head in > "$head"
  cmp -s all "$head" && fail "$head changed nothing"
done
cmp -s encoder.0.0 encoder.1.1 && fail 'two heads have the same effect'
for precision in bf16 int8; do
  tx-decode -m model --precision $precision --scores --mask-heads 'cross.*.*' in > half
  [ "$(sort -u half | wc -l)" -eq 1 ] || fail "$precision does not mask heads"
done

expect_usage_error "--mask-heads: 'middle.0.0' must be KIND.LAYER.HEAD, such as encoder.0.1; the kinds of this model are encoder, decoder, cross" \
  tx-decode -m model --mask-heads middle.0.0 in
expect_usage_error "--mask-heads cross.2.0: '2' is not one of its layers (0 to 1, or * for all)" \
  tx-decode -m model --mask-heads cross.2.0 in
expect_usage_error 'is not one of its heads (0 to' tx-decode -m model --mask-heads cross.1.99 in
expect_usage_error "'cross.1' must be KIND.LAYER.HEAD" tx-decode -m model --mask-heads cross.1 in
expect_usage_error "'' must be KIND.LAYER.HEAD" tx-decode -m model --mask-heads cross.1.0, in
