# A run killed at any point of a save resumes bit-identically.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
whole_run --precision fp32 --threads 1
[ "$(ls whole/state-*.safetensors | wc -l)" -ge 2 ] || fail "the run has too few checkpoints"
stop_at rename:1 rename:2 rename:3 sync:4 renamed:4 model state links link
stop_at model:3 state:3 links:3 link:4 best:2 prune:2 pruning:1 sync:8 rename:9 renamed:9
random_kills 4 1
