# --bpe-dropout segments the text anew every epoch; a killed run resumes bit-identically.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
whole_run --precision fp32 --threads 1 --bpe-dropout 0.2 --bpe-dropout-epochs 1
stop_at rename:1 state model:2
random_kills 2 7

# Without it the weights differ; the text's cache is the same.
small_train --precision fp32 --threads 1 $resume_options -o usual 2> usual.log || fail "$(cat usual.log)"
! cmp -s whole/last.safetensors usual/last.safetensors || fail "--bpe-dropout changes nothing"
expect_same whole/train.ids usual/train.ids

expect_usage_error '--bpe-dropout-epochs needs --bpe-dropout' \
  tx-train --src train.en --tgt train.de --vocab bpe.model --bpe-dropout-epochs 2 -o none
expect_usage_error '--bpe-dropout cannot be used with --resume' tx-train --resume whole --bpe-dropout 0.1
status=0
tx-train --src train.en --tgt train.de --vocab words --bpe-dropout 0.1 --preset toy --steps 1 \
  -o words 2> err || status=$?
[ $status -eq 2 ] || fail "status $status instead of 2"
grep -q 'tx-train: --bpe-dropout drops merges, but this vocabulary has none' err ||
  fail "$(cat err)"
