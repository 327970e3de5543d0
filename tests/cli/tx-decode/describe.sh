# --describe: every weight with its form; the sums are the file's.
make_model model layers 1
tx-avg --to int8 -q -o int8 model
tx-avg --to bf16 -q -o bf16 model
expect_status 0 tx-decode -m int8 --describe
expect_stdout_contains 'products with 8-bit weights'
tx-decode -m int8 --describe > described
awk '$1 == "encoder.layers.0.ffn.in_proj.weight" && $2 == 64 && $4 == 32 && $5 == "int8" &&
  $6 == "product" && $7 == 64 * 32 + 64 * 4 { found = 1 } END { exit !found }' described ||
  fail 'wrong line of a matrix'
awk '$1 == "encoder.layers.0.ffn.in_proj.bias" && $3 == "fp32" && $4 == "vector" && $5 == 256 {
  found = 1 } END { exit !found }' described || fail 'wrong line of a vector'
last=$(tail -n 1 described)
set -- $last
[ "$1" = "$3" ] && [ "$1" -gt 10 ] || fail "products are missing: $last"

# The bytes by form are the sums of the lines.
awk '/^forms/ { sums = 1 } /^products/ { exit } sums && NF > 2 { form += $NF; next }
  NF > 3 { line += $NF } END { exit !(form == line && form > 0) }' described ||
  fail 'forms do not add up'
for form in fp32 bf16; do
  file=$([ $form = fp32 ] && echo model || echo bf16)
  expect_status 0 tx-decode -m $file --describe
  tx-decode -m $file --describe > described
  ! grep -q int8 described || fail "$form: int8 is named"
  expect_stdout_contains '  0 of '
  grep -q "product *[0-9]" described && grep -q " $form " described || fail "$form is not named"
done
for option in '--compare model' '--beam 4' --no-json text; do
  name=${option%% *}
  [ "$name" != text ] || name="argument 'text'"
  # shellcheck disable=SC2086
  expect_usage_error "$name cannot be used with --describe: give only --model with it" \
    tx-decode -m model --describe $option
done
expect_status 0 tx-decode -q -m model --describe
