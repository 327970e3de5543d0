#!/bin/sh
# arm_loops.sh [LIBRARY]: instructions of the innermost loops of the products on ARM64, counted in
# the code that the compiler made: instructions in all, those that multiply, multiply-adds of these,
# and multiply-adds per instruction; and the cycles that llvm-mca's model of a processor foretells.
# Nothing is run. LIBRARY: build-arm/lib/libtx-cpu.so, made by `make check-arm`. MCPU: for llvm-mca.
set -eu
library=${1:-build-arm/lib/libtx-cpu.so}
code=$(mktemp -d)
trap 'rm -rf "$code"' EXIT
aarch64-linux-gnu-objdump -dC --no-show-raw-insn "$library" > "$code/all"
mca=$(command -v llvm-mca || echo true)
echo "loop             | instructions | multiplying | multiply-adds | per instruction | cycles (llvm-mca, ${MCPU:-neoverse-n1})"
# LOOP, its instructions, multiply-adds of one
while read -r name instruction each; do
  # The shortest loop with the most of these instructions.
  awk -v name="$name" -v wanted="$instruction" '
    /^[0-9a-f]+ <.*>:$/ { inside = index($0, "::" name "(") > 0; next }
    !inside || !/^ *[0-9a-f]+:\t/ { next }
    {
      split($0, field, "\t")
      sub(":", "", field[1]); gsub(" ", "", field[1])
      at[++n] = field[1]; op[n] = field[2]; text[n] = field[2] "\t" field[3]; place[field[1]] = n
      sub(/ *(\/\/|<).*/, "", text[n])
      if (op[n] ~ /^(b\.|cbn?z|tbn?z)/) {
        k = split(field[3], part, /[ ,]+/)
        for (i = 1; i <= k; ++i) if (part[i] in place) { from[++loops] = place[part[i]]; to[loops] = n }
      }
    }
    END {
      for (l = 1; l <= loops; ++l) {
        count = 0
        for (i = from[l]; i <= to[l]; ++i) count += op[i] ~ "^(" wanted ")$"
        if (count > most || (count == most && to[l] - from[l] < to[best] - from[best])) {
          most = count
          best = l
        }
      }
      for (i = from[best]; i < to[best]; ++i) print text[i]
    }' "$code/all" > "$code/loop"
  multiplying=$(grep -cE "^($instruction)	" "$code/loop") || { echo "$name: no loop" >&2; exit 1; }
  total=$(($(wc -l < "$code/loop") + 1))
  sed 's/\tb[.a-z]* .*//' "$code/loop" | grep -vE '^(b\.|cbn?z|b	|tbn?z)' > "$code/plain"
  cycles=$($mca -march=aarch64 -mcpu="${MCPU:-neoverse-n1}" -mattr=+bf16,+i8mm,+dotprod \
    -iterations=100 "$code/plain" 2> /dev/null | awk '/^Total Cycles/ { print $3 / 100 }')
  printf '%-16s | %12d | %11d | %13d | %15.2f | %s\n' "$name" "$total" "$multiplying" \
    $((multiplying * each)) "$(echo "$multiplying $each $total" | awk '{ print $1 * $2 / $3 }')" \
    "${cycles:--}"
done << 'TABLE'
f32_neon<6> fmla 4
dot_neon<6> bfmmla 16
int8_neon<2> smull2?|smlal2? 8
int8_dotprod<6> sdot 16
int8_i8mm<6> usmmla 32
TABLE
