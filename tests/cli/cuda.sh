# Functions for scripts about the GPU, in addition to train.sh: . "$TX_SOURCE/tests/cli/cuda.sh"
. "$TX_SOURCE/tests/cli/train.sh"
reason=$(tx-train --version | sed -n 's/^CUDA: .*\(not used\|built without\)/\1/p')
[ -z "$reason" ] || skip "$reason"

# losses RUN: prints one loss per line.
losses() { sed -n 's/.*"step":\([0-9]*\).*"loss":\([^,}]*\).*/\1 \2/p' "$1/log.jsonl"; }
