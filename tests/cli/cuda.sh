# Words for the scripts about the GPU, beside those of train.sh: . "$TX_SOURCE/tests/cli/cuda.sh"
. "$TX_SOURCE/tests/cli/train.sh"
reason=$(tx-train --version | sed -n 's/^CUDA: .*\(not used\|built without\)/\1/p')
[ -z "$reason" ] || skip "$reason"

# losses RUN: one a line.
losses() { sed -n 's/.*"step":\([0-9]*\).*"loss":\([^,}]*\).*/\1 \2/p' "$1/log.jsonl"; }
