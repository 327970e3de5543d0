#!/bin/sh
# What to measure in a few minutes on a GPU, most valuable parts first: tests, speed of training and
# decoding, kernels, other toolkits. Needs neither a compiler nor a network, and runs from a build
# tree or an unpacked bundle:
#
#   sh tests/gpu/measure.sh [BUILD [PART...]]
#
# Parts, by default all but learn, in this order:
#   tests         the GPU tests, one process each, without and with all of TRY; the cases of one that
#                 fails in processes of their own
#   bits          whether bits of wgmma depend on its width (wgmma_bits.cu)
#   train         base and big: tokens/s, then the profile
#   decode        1, 32 and 1,024 sentences, one and two workers; a decoder's step without search
#   kernels       tiles, cached attention, attention and layers in cuda_bench
#   ncu           selected kernels under Nsight Compute
#   products      weight gradients by cuBLASLt: 64 candidates, fewer multiprocessors (weight_gradients.cu)
#   checkers      memcheck and racecheck of compute-sanitizer on selected cases
#   ctranslate2   decoding with the same weights
#   torch         the same training in PyTorch: packed rows, compiled layers
#   learn         examples/paper/base_gpu.sh with the texts in DATA and the settings in LEARN
# A part has a limit of its own, so that one that hangs costs no other its time; one without its
# software or GPU is skipped with a message. Files in OUT=gpu-measure: report.txt, all output line by
# line; figures.tsv; summary.txt, the figures beside earlier ones and predictions.
# AB=PATH         a second libtx-cuda.so, or the directory of a second build: train, decode and kernels
#                 run alternately with both, a and b
# TRY="branches dx early early,norms early,norms,heads wgmma"  values of TX_CUDA_TRY, whose words are off
#                 until a GPU has shown them, with each of which those parts run, too, that it concerns
# TX_SECONDS=570  limit of all; TX_PATIENCE=1 multiplies the others
# PYTHON=python3  an interpreter with torch, ctranslate2; wheels in ROOT/wheels are installed for it
# DRY=1           the same commands with tiny sizes, on the CPU if there is no GPU
# Status 0; 1: something failed; 77: no GPU.
set -u
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/loads.sh"
began_in=$PWD
mkdir -p "${OUT:-gpu-measure}" || exit 1
out=$(cd "${OUT:-gpu-measure}" && pwd)
begin "tx on a GPU: measure" "$out/report.txt" "$@"
[ $# -eq 0 ] || shift
parts=${*:-tests bits train decode kernels ncu products checkers ctranslate2 torch}
scale=1 rounds='1 2' size=base less='' sentences=1,32,1024 length=30 runs=10 precision=bf16
if [ "${DRY:-0}" -eq 1 ]; then
  scale=2500 rounds=1 size=small sentences=1 length=6 runs=1
  less='--layers 1 --d-model 64 --heads 2 --d-ff 128'
fi
tokens=$((25000 / scale + 100 * (scale > 1))) words=$((37000 / scale + 100 * (scale > 1)))
bench=$root/tests/bench
TX_WORK=$work TX_DEVICE=$device
on_gpu() { [ "$device" = cuda ]; }
on_gpu || precision=auto
TX_PRECISION=$precision
export TX_WORK TX_DEVICE TX_PRECISION
: > "$out/figures.tsv"
cd "$work" || exit 1
. "$root/tests/gpu/part.sh"
. "$root/tests/gpu/measured.sh"

# Build b: a directory that differs in one library, or another build.
builds=a
[ -z "${AB-}" ] || {
  case $AB in /*) ;; *) AB=$began_in/$AB ;; esac
  builds='a b'
  mkdir b
  if [ -d "$AB" ]; then
    ln -s "$AB/bin" "$AB/tests" "$AB/lib" b/
  else
    mkdir b/lib && ln -s "$TX_BUILD/bin" "$TX_BUILD/tests" b/ && ln -s "$TX_BUILD"/lib/* b/lib/ &&
      ln -sf "$AB" b/lib/libtx-cuda.so
  fi || exit 1
  say "  a: $TX_BUILD, b: $AB"
}
: "${TRY=branches dx early early,norms early,norms,heads wgmma}"
# with WORD...: the builds, and those of WORD that are in TRY.
with() {
  words=$builds
  for word in $TRY; do
    case " $* " in *" $word "*) words="$words $word" ;; esac
  done
  echo "$words"
}
# on.sh BUILD COMMAND...: runs COMMAND with that build, or with TX_CUDA_TRY=BUILD.
cat > on.sh <<'SCRIPT'
build=$1
shift
case $build in
  a) ;;
  b)
    PATH=$TX_WORK/b/bin:$TX_WORK/b/tests:$PATH
    LD_LIBRARY_PATH=$TX_WORK/b/lib:$TX_WORK/b/lib/bundled${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export PATH LD_LIBRARY_PATH
    ;;
  *) export TX_CUDA_TRY="$build" ;;
esac
exec "$@"
SCRIPT

# A test of a GPU and, should it fail, each of its cases alone.
cat > test.sh <<'SCRIPT'
test=$1
shift
name=${test##*/}${TX_CUDA_TRY:+, TX_CUDA_TRY=$TX_CUDA_TRY}
log=log.$name
"$test" --color_output=no "$@" > "$log" 2>&1
status=$?
echo "$name: status $status, $(tail -n 1 "$log")"
[ $status -ne 0 ] && [ $status -ne 77 ] || exit 0
tail -n 30 "$log"
[ $# -eq 0 ] || exit 1
"$test" --list_content 2>&1 | sed 's/[*]$//' | awk '/^[^ ]/ { suite = $1; next } { print suite "/" $1 }' |
  while read -r case; do
    timeout -k 2 20 "$test" --color_output=no --run_test="$case" > "$log.case" 2>&1 && continue
    printf 'FAIL %s %s\n%s\n' "$name" "$case" "$(tail -n 12 "$log.case")"
  done
exit 1
SCRIPT
cat > tests.sh <<'SCRIPT'
words=$1 names=$2
shift 2
for test in "$TX_BUILD"/tests/gpu-$names; do
  [ -x "$test" ] || continue
  for tried in '' ${words:+"$words"}; do
    { TX_CUDA_TRY=$tried sh test.sh "$test" "$@" || echo failed >> failures; } &
  done
done
wait
[ ! -e failures ]
SCRIPT
do_tests() {
  if [ "$scale" -eq 1 ]; then set -- '*'; else set -- kernels '--run_test=lists*'; fi
  part 80 "GPU tests" sh tests.sh "$(echo "$TRY" | tr ' ' ,)" "$@"
  figure tests a "$([ "$status" -eq 0 ] && echo passed || echo FAILED)"
}

# compiled NAME: a program of tests/gpu, in the bundle or built here.
compiled() {
  [ ! -x "$TX_BUILD/tests/$1" ] || return 0
  nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
  [ -x "$nvcc" ] && [ "$scale" -eq 1 ] ||
    { say "" && say "$1: skipped, a dry run, or not built and no nvcc" && return 1; }
  part 40 "compiling $1" sh "$root/tests/gpu/compile.sh" "$nvcc" "$1" "$work" && PATH=$work:$PATH
}
do_bits() { compiled wgmma_bits && part 15 "bits of wgmma by its width" wgmma_bits; }
do_products() {
  compiled weight_gradients || return
  library=$(ls ${TX_CUBLASLT:-/usr/local/cuda*/lib64/libcublasLt.so.1[23] \
    /opt/*/.venv/lib/python3*/*-packages/nvidia/*/lib/libcublasLt.so.1[23] \
    /usr/*/lib/python3*/*-packages/nvidia/*/lib/libcublasLt.so.1[23]} 2> /dev/null | tail -n 1)
  part 25 "weight gradients by cuBLASLt's candidates" env LD_LIBRARY_PATH="$outside" \
    weight_gradients ${library:+"$library"}
}

# training BUILD PRESET STEPS OPTION...
training() {
  build=$1 preset=$2 steps=$3
  shift 3
  rm -rf "$preset"
  # shellcheck disable=SC2086  # words
  part 60 "tx-train, $preset, bf16, $tokens tokens per side, $steps steps $*, build $build" \
    sh on.sh "$build" sh train.sh "$preset" "$tokens" --steps "$steps" $less "$@" || return
  speed_of "$preset/log.jsonl" | tee -a "$report" | tee last
}
trainings() { # PRESET STEPS
  for build in $(with branches dx early); do
    training "$build" "$@" || continue
    figure "train $1" "$build" "$(awk '{ print $4; exit }' last)"
  done
}
do_train() {
  for _ in $rounds; do trainings base $((scale > 1 ? 6 : 30)); done
  trainings big $((scale > 1 ? 6 : 20))
  for preset in base big; do training a $preset $((scale > 1 ? 4 : 10)) --profile; done
}

do_decode() {
  for _ in $rounds; do
    for build in $(with early early,norms early,norms,heads wgmma); do
      case $build in *norms*) few=${sentences%%,*} ;; *) few=$sentences ;; esac
      part 40 "decoding, $size, bf16, beam 4, $length tokens, build $build" sh on.sh "$build" \
        decode_bench $size $precision "$few" 1 4 $length "$words" $runs $device 0 1,2 || continue
      figures_of_decoding "$build" < last
    done
  done
}

do_kernels() {
  for build in $(with wgmma); do
    part 60 "kernels, build $build" sh on.sh "$build" \
      cuda_bench "$scale" tiles cached attention layers || continue
    figures_of_kernels "$build" < last
  done
}

# GROUP of cuda_bench, or decode for one sentence, and a pattern of the kernel's name with its
# template arguments.
do_ncu() {
  ncu=$(command -v ncu ||
    ls /usr/local/cuda*/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2> /dev/null | tail -n 1)
  { [ -x "$ncu" ] && on_gpu; } || { say "" && say "ncu: skipped, not installed or no GPU" && return; }
  while read -r group pattern <&3; do
    set -- cuda_bench "$scale" "$group"
    # shellcheck disable=SC2086  # words
    [ "$group" != decode ] || set -- decode_bench $size bf16 1 1 4 $length "$words" 1 cuda
    program=$1
    shift
    part 30 "ncu of $pattern in $group" sh under.sh "$ncu" --target-processes all \
      --clock-control none --kernel-name-base demangled --kernel-name "regex:$pattern" --launch-skip 1 \
      --launch-count 1 --kill yes --section SpeedOfLight --section LaunchStats --section Occupancy \
      --section MemoryWorkloadAnalysis --section WarpStateStats --section SchedulerStats \
      -- "$TX_BUILD/tests/$program" "$@"
  done 3<<'END'
cached attend_rows<.*, (.int.)?1, (.int.)?1, (.bool.)?(1|true)>
cached cross_rows<(.bool.)?(1|true)>
decode tensor_kernel<.*Tile<(.int.)?0,
tiles tensor_kernel<.*Tile<(.int.)?6,
attention [^_]backward<
attention [^_]forward<
layers norm_backward_rows
searches best_of_rows
END
}

do_checkers() {
  sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  { [ -x "$sanitizer" ] && on_gpu; } ||
    { say "" && say "checkers: skipped, no compute-sanitizer or no GPU" && return; }
  for tool in memcheck racecheck; do
    for chosen in attention_cached/many_rows attention_cached/rows_bring_their_own_keys \
      matmul_invariant_gpu/no_tile_nor_alignment_changes_a_bit; do
      part 30 "$tool of $chosen" sh under.sh "$sanitizer" --tool $tool --target-processes all \
        --error-exitcode 9 -- "$TX_BUILD/tests/gpu-kernels" --color_output=no --run_test=$chosen
    done
  done
}

# peer PACKAGE: whether python has it, possibly from a wheel that travels with this script.
peer() {
  if ls "$root"/wheels/*.whl > /dev/null 2>&1 && [ ! -d site ]; then
    "$work/python" -m pip install -q --no-index --no-deps --no-compile --target "$work/site" \
      "$root"/wheels/*.whl 2>&1 | tail -n 2
    PYTHONPATH=$work/site${PYTHONPATH:+:$PYTHONPATH}
    export PYTHONPATH
  fi
  "$work/python" -c "import $1" 2> err || { say "" && say "$1: skipped, $(tail -n 1 err)" && return 1; }
}
# CTranslate2 is built with CUDA 12, but needs only functions that cuBLAS 13 has, too.
do_ctranslate2() {
  peer ctranslate2 || return
  theirs='float16 bfloat16'
  on_gpu || theirs=float32
  for place in /usr/local/cuda*/lib64 /opt/*/.venv/lib/python3*/*-packages/nvidia/*/lib \
    /usr/*/lib/python3*/*-packages/nvidia/*/lib /usr/lib/x86_64-linux-gnu; do
    for library in "$place"/libcublas.so.1[23]; do
      [ -e "$library" ] && [ ! -e blas/libcublas.so.12 ] || continue
      mkdir -p blas && ln -s "$library" blas/libcublas.so.12
      outside=$work/blas:$place${outside:+:$outside}
      python_script
    done
  done
  [ -s random.safetensors ] || random_model || return
  for batch in 32 1024; do
    [ $((batch * scale)) -lt 100000 ] || break
    part 60 "tx-decode and CTranslate2 with the same weights, beam 4, $batch sentences" \
      sh "$bench/decode_speed.sh" random.safetensors test.src BIN="$TX_BUILD/bin" \
      PYTHON="$work/python" DEVICE=$device FORM=pieces EXTRA=3 BATCH=$batch TOKENS=$((batch * 28)) \
      ROUNDS=2 OURS=$precision THEIRS="$theirs" || continue
    while read -r name rate _; do
      case $name in
        ct2.*) figure "CTranslate2 ${name#*.} $batch" - "$rate" ;;
        tx.*) figure "tx-decode $batch" a "$rate" ;;
      esac
    done < last
  done
}

do_torch() {
  peer torch || return
  for side in src tgt; do sed 's/w//g' train.$side > train.$side.ids; done
  for mode in --compile ''; do
    # shellcheck disable=SC2086  # words
    part 60 "PyTorch, base, packed rows, bf16, $tokens tokens per side: source + target tokens/s $mode" \
      "$work/python" "$bench/peers/torch_packed.py" train.src.ids train.tgt.ids --device $device \
      --vocabulary $(((words + 63) / 64 * 64)) --batch-tokens "$tokens" --steps $((scale > 1 ? 2 : 30)) \
      --skip $((scale > 1 ? 1 : 10)) $less $mode || continue
    figure "PyTorch base ${mode:-eager}" - "$(tail -n 1 last)"
  done
}

do_learn() {
  case ${DATA:?"learn needs DATA"} in /*) ;; *) DATA=$began_in/$DATA ;; esac
  # shellcheck disable=SC2086  # words
  part 500 "a training: ${LEARN-}" sh "$root/examples/paper/base_gpu.sh" "$DATA" \
    "$out/learn" PARTS=1 ${LEARN-}
}

synthetic
for name in $parts; do
  case $name in
    tests) limit 90 ;;
    bits) limit 55 ;;
    train) limit 170 ;;
    decode) limit 110 ;;
    kernels) limit 120 ;;
    ncu) limit 75 ;;
    products | checkers) limit 60 ;;
    ctranslate2 | torch) limit 100 ;;
    learn) limit 600 ;;
    *) say "unknown part '$name'" && failed=$((failed + 1)) && continue ;;
  esac
  "do_$name"
done
summary "$out/figures.tsv" | tee "$out/summary.txt" | tee -a "$report"
ended
