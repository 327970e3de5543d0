# examples/slurm, with stand-ins for Slurm's programs: a training that TERM ends is requeued and
# resumes bit-identically; a job array joins its translations.
. "$TX_SOURCE/tests/cli/train.sh"
small_text
mkdir bin
export CALLS="$PWD/calls"
cat > bin/srun << 'END'
#!/bin/sh
echo "srun $*" >> "$CALLS"
while :; do case $1 in -*) shift ;; *) break ;; esac; done
"$@" &
if [ -n "$LIMIT" ]; then # send TERM after this step
  until grep -q "\"step\":$LIMIT," run/log.jsonl 2> /dev/null; do sleep 0.02; done
  kill -TERM $!
fi
wait $!
END
printf '#!/bin/sh\necho "scontrol $*" >> "$CALLS"\n' > bin/scontrol
chmod +x bin/srun bin/scontrol
export PATH="$PWD/bin:$PATH" LIMIT=

submit() { # as Slurm does: a copy runs
  cp "$TX_SOURCE/examples/slurm/$1.sh" slurm_script
  shift
  sh slurm_script "$@"
}
train() {
  submit train run --src train.en --tgt train.de --valid-src valid.en --valid-tgt valid.de \
    --vocab bpe.model --layers 1 --d-model 32 --heads 2 --d-ff 64 --batch-tokens 200 \
    --device cpu --threads 1 --precision fp32 --steps 300 --save-every 100 --log-every 1
}
expect_status 0 train # without Slurm
expect_no_file calls
mv run whole
mkdir run # as left by a job killed before its first checkpoint
export SLURM_JOB_ID=17 SLURM_CPUS_PER_TASK=3 LIMIT=5
expect_status 143 train
sed 's/ --src .*/ .../' calls > short
printf '%s\n' 'srun --cpus-per-task=3 --mpi=pmix --kill-on-bad-exit tx-train ...' \
  'scontrol requeue 17' > expected
expect_same expected short
expect_no_file run/model-100.safetensors
rm calls
LIMIT=
expect_status 0 train
expect_stderr_contains 'resuming run after step '
grep -q 'tx-train --resume run$' calls || fail "$(cat calls)"
expect_same whole/model-300.safetensors run/model-300.safetensors
expect_same whole/state-300.safetensors run/state-300.safetensors
! grep scontrol calls || fail 'a finished training was requeued'
expect_status 2 submit train

# Jobs 3, 5 and 7 of an array, out of order.
make_model model layers 1
awk 'BEGIN { for (i = 0; i < 100; ++i) print "w" 4 + i % 7, "w" 5 + i % 11 }' > text
tx-decode -q -m model < text > whole.out
export SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=3 LINES=9
for job in 5 3 7; do
  expect_no_file out
  expect_status 0 env SLURM_ARRAY_TASK_ID=$job TX="$TX_SOURCE" sh -c 'cp "$1" slurm_script
    shift
    sh slurm_script "$@"' sh "$TX_SOURCE/examples/slurm/decode-array.sh" text out \
    tx-decode -q -m model
done
expect_same whole.out out
[ "$(ls out.blocks/out | wc -l)" -eq 12 ] || fail "$(ls out.blocks/out | wc -l) blocks of 9 lines"
unset SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_STEP SLURM_ARRAY_TASK_COUNT
rm -r out out.blocks
expect_status 0 sh "$TX_SOURCE/examples/slurm/decode-array.sh" text out tx-decode -q -m model
expect_same whole.out out
