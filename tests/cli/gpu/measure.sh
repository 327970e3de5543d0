# label: gpu
# Runs every part of tests/gpu/measure.sh with tiny sizes, on an emulated GPU or else on the CPU, so
# that its faults do not cost minutes on a real one. Checkers and Python are stand-ins.
mkdir stand out
cat > stand/compute-sanitizer <<'SCRIPT'
#!/bin/sh
echo "checked, libraries '$LD_LIBRARY_PATH': $*"
while [ "$1" != env ]; do shift; done
for word; do case $word in --run_test=*) name=${word#*=} ;; esac; done
"$1" "$2" "$3" --list_content 2>&1 | awk -v name="$name" '
  { sub(/[*]$/, "") }
  /^[^ ]/ { suite = $1; next }
  suite "/" $1 == name { found = 1 }
  END { exit !found }'
SCRIPT
cat > stand/ncu <<'SCRIPT'
#!/bin/sh
echo "profiled, libraries '$LD_LIBRARY_PATH': $*"
SCRIPT
cat > stand/python <<'SCRIPT'
#!/bin/sh
case $2 in
  'import torch') exit 0 ;;
  import*) echo "No module named 'ctranslate2'" >&2 && exit 1 ;;
esac
[ "$(wc -w < "$2")" -eq "$(wc -w < train.src)" ] || exit 1
echo "python, libraries '$LD_LIBRARY_PATH': $*"
echo 4321
SCRIPT
chmod +x stand/*
export PATH="$PWD/stand:$PATH" PYTHON="$PWD/stand/python" LD_LIBRARY_PATH=/outside
export DRY=1 OUT=$PWD/out TX_SECONDS=2400 TX_PATIENCE=20 AB=$TX_BUILD
measure() { sh "$TX_SOURCE/tests/gpu/measure.sh" "$TX_BUILD" "$@"; }
expect_status 0 measure
expect_stdout_file out/report.txt
for title in 'GPU tests' 'tx-train, base, bf16, 110 tokens per side, 6 steps , build b' \
  'tx-train, big, bf16, 110 tokens per side, 4 steps --profile, build a' \
  'decoding, small, bf16, beam 4, 6 tokens, build b' \
  'PyTorch, base, packed rows, .*--compile'; do
  grep -q -- "^-- status 0 after [0-9]* s: $title\$" out/report.txt || fail "nothing of: $title"
done
for figure in 'tests	a	passed' 'train base	a	[1-9][0-9]*' 'train base	b	[1-9][0-9]*' \
  'decode 1 sentences, 2 workers	b	[1-9][0-9]*' 'step of 4 rows	a	[1-9][0-9.]*' \
  'PyTorch base eager	-	4321'; do
  grep -qx "$figure" out/figures.tsv || fail "no figure: $figure"
done
expect_stdout_contains "python, libraries '/outside'"
expect_stdout_contains "ctranslate2: skipped, No module named 'ctranslate2'"
grep -q '^train base  *[0-9]*  *[0-9]*  1824000 ' out/summary.txt || fail 'no summary'
if ! grep -q '^ncu: skipped' out/report.txt; then
  for words in "profiled, libraries '/outside'" 'tiles, bf16' \
    "checked, libraries '/outside': --tool racecheck"; do
    expect_stdout_contains "$words"
  done
  grep -qx 'attention_cached, 4 rows, 15 keys by a list	b	[0-9.]*' out/figures.tsv ||
    fail 'no figure of a kernel'
fi

# An unknown part, and no time left.
expect_status 1 measure nothing
expect_stdout_contains "unknown part 'nothing'"
TX_SECONDS=3 expect_status 0 measure tests
expect_stdout_contains 'skipped: no time left'
