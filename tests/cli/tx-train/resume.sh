# A run killed at any point of a save resumes bit-identically, in every precision and on one or two
# threads.
. "$TX_SOURCE/tests/cli/train.sh"
. "$TX_SOURCE/tests/cli/train_resume.sh"
small_text
whole_run --precision fp32 --threads 1
[ "$(ls whole/state-*.safetensors | wc -l)" -ge 2 ] || fail "the run has too few checkpoints"
stop_at rename:1 rename:2 rename:3 sync:4 renamed:4 model state links link
stop_at model:3 state:3 links:3 link:4 best:2 prune:2 pruning:1 sync:8 rename:9 renamed:9
random_kills 4 1

# Links are replaced atomically.
status=0
TX_FAILPOINT=link:2 begin_run || status=$?
[ $status -eq 137 ] && [ -e stopped/last.safetensors ] || fail "no last.safetensors while it is replaced"
finish_run link:2

for run in "fp32 2" "bf16 1" "bf16 2"; do
  rm -rf whole
  small_train --precision "${run% *}" --describe > /dev/null 2>&1 || continue # no bf16 here
  whole_run --precision "${run% *}" --threads "${run#* }"
  stop_at state:2 rename:8 best:3 links:4
  random_kills 3 "${run#* }"
done
