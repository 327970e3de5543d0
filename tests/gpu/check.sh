#!/bin/sh
# All checks that need a GPU: every GPU test, the tools end to end against the CPU, and the memory
# and race checkers of compute-sanitizer if it is installed. Needs no compiler, takes at most ten
# minutes, and runs from a build tree or an unpacked bundle:
#
#   sh tests/gpu/check.sh [BUILD]
#
# Prints a line per step, PASS, FAIL or SKIP, also to gpu-check.txt. Status 0: something passed
# and nothing failed; 1: something failed; 77: nothing could be checked, with the reason.
# TX_SECONDS=570 is the time limit; steps beyond it are skipped. TX_MODEL, TX_TEXT and
# TX_REFERENCE (absolute paths) set the model and text, such as newstest2014, on which the devices
# are compared.
set -u
. "$(dirname "$0")/common.sh"
begin "tx on a GPU: check" gpu-check.txt "$@"
parts=$root/tests/gpu/parts.sh
TX_WORK=$work
export TX_WORK
passed=0 failed=0 skipped=0

# result VERDICT MILLISECONDS STEP REMARK
result() {
  case $1 in
    PASS) passed=$((passed + 1)) ;;
    FAIL) failed=$((failed + 1)) ;;
    SKIP) skipped=$((skipped + 1)) ;;
  esac
  say "$(printf '%s %6d.%d s  %s%s' "$1" $(($2 / 1000)) $(($2 % 1000 / 100)) "$3" "${4:+: $4}")"
}

# step SECONDS NAME COMMAND...: the last line it prints is the remark. Status 77 is a skip; so is
# running out of time where `unfinished` says so.
unfinished=FAIL
step() {
  limit=$1 most=$(seconds_left "$1") what=$2
  shift 2
  if [ "$most" -lt 5 ]; then
    result SKIP 0 "$what" "no time left"
    return
  fi
  began=$(milliseconds)
  status=0
  timeout -k 5 "$most" "$@" > "$work/log" 2>&1 || status=$?
  took=$(($(milliseconds) - began))
  case $status in
    0) result PASS $took "$what" "$(tail -n 1 "$work/log" | grep -v '^[*]' | cut -c 1-100)" ;;
    77) result SKIP $took "$what" "$(tail -n 1 "$work/log" | sed 's/^skipped: //')" ;;
    124 | 137)
      verdict=$unfinished
      [ "$most" -eq "$limit" ] || verdict=SKIP # the time ran out, not the step's own limit
      result $verdict $took "$what" "not done within $most s"
      ;;
    *)
      result FAIL $took "$what" "status $status"
      tail -n 30 "$work/log" | sed 's/^/    /' | tee -a "$report"
      ;;
  esac
}

for test in "$TX_BUILD"/tests/gpu-*; do
  [ -x "$test" ] && step 240 "$(basename "$test")" "$test" --color_output=no
done

for script in "$root"/tests/cli/cuda/*.sh; do
  step 120 "cuda/$(basename "$script" .sh)" sh "$root/tests/cli/run.sh" "$script"
done

step 60 "corpus" sh "$parts" corpus
step 90 "20 steps in fp32, losses as on the CPU" sh "$parts" losses
step 60 "20 steps in bf16, losses near those of fp32" sh "$parts" losses_bf16
step 60 "the same run twice, byte for byte" sh "$parts" repeated
step 90 "killed and resumed in fp32, byte for byte" sh "$parts" resumed fp32
step 90 "killed and resumed in bf16, byte for byte" sh "$parts" resumed bf16
step 120 "a model that learns" sh "$parts" learned
step 240 "translations in fp32 as on the CPU, 99 % of the lines" sh "$parts" translations
step 60 "BLEU in bf16 as in fp32 on the CPU" sh "$parts" translations_bf16
step 60 "translations whatever the batch" sh "$parts" invariance

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
unfinished=SKIP
# sanitize SECONDS TOOL WHAT COMMAND...
sanitize() {
  most=$1 tool=$2 what="$2 of $3"
  shift 3
  if [ -x "$sanitizer" ]; then
    step "$most" "$what" env LD_LIBRARY_PATH="$outside" "$sanitizer" --tool "$tool" \
      --error-exitcode 9 --target-processes all env LD_LIBRARY_PATH="${LD_LIBRARY_PATH-}" "$@"
  else
    result SKIP 0 "$what" "no compute-sanitizer here"
  fi
}
for tool in memcheck racecheck initcheck synccheck; do
  sanitize 60 $tool "three steps of training" sh "$parts" few_steps
  sanitize 90 $tool gpu-kernels "$TX_BUILD/tests/gpu-kernels" --color_output=no
done
sanitize 60 memcheck gpu-model "$TX_BUILD/tests/gpu-model" --color_output=no
sanitize 60 memcheck "a translation" sh "$parts" few_lines

verdict=PASSED status=0
[ $passed -gt 0 ] || { verdict="NOTHING CHECKED" status=77; }
[ $failed -eq 0 ] || { verdict=FAILED status=1; }
say "$verdict: $passed passed, $failed failed, $skipped skipped; see $report"
exit $status
