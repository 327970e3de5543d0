#!/bin/sh
# Seven ideas of "Attention Is All You Need", each with two lines of text, figures and a drawing.
# Needs no data and half a minute of one core, most of it for part 7, which trains six models.
#   sh examples/ten_minutes.sh [PART]...
# Parts: 1 soft dictionary, 2 temperature, 3 order, 4 variance, 5 causal mask, 6 rotation,
# 7 why sqrt(d_k); without a number, all. claims/README.md has the figures. Nothing is left on disk.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/train.sh"
dir=$(mktemp -d "${TMPDIR:-/tmp}/ten_minutes.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM HUP

# attend DIGITS: computes equation 1 for a JSON object. attended NAME prints the rows of a matrix.
attend() { tx-attn-dump --qkv - --digits "$1" > "$dir/attended"; }
attended() {
  awk -v name="$1" '$1 == name { on = 1; next }
    !NF { on = 0 }
    on { $1 = $1; print }' "$dir/attended"
}

# bars WIDTH: draws lines "TEXT<tab>VALUE", with values from 0 to 1.
bars() {
  awk -F '\t' -v width="$1" '{
    bar = ""
    for (i = 1; i <= $2 * width + 0.5; ++i) bar = bar "#"
    print "  " $1 (bar ? "  " bar : "")
  }'
}

# shades NAME...: draws rows of weights, one row per name: . is 0, - is small, # is 1.
shades() {
  awk -v names="$*" 'BEGIN { split(names, name, " ") } {
    line = ""
    for (i = 1; i <= NF; ++i) line = line "  " ($i ? substr("-:+=*o%#", 1 + $i * 7.999, 1) : ".")
    printf "  %-6s%s\n", name[NR], line
  }'
}

part1() {
  echo 'A dictionary returns the value of the key that equals the query. Attention
returns a mean of all values: a key with a larger dot product weighs more.
'
  # Without the division by sqrt(2), as in tutorials.
  attend 3 << 'END'
{"q": [[0.9, 0.1]], "k": [[1, 0], [0, 1], [0.7, 0.7], [-1, 0]], "temperature": 0.7071067811865475,
 "v": [[10, 20], [30, 40], [15, 25], [50, 60]]}
END
  attended weights | tr ' ' '\n' > "$dir/weights"
  printf '%s\n' '( 1.0 0.0)  (10 20)' '( 0.0 1.0)  (30 40)' '( 0.7 0.7)  (15 25)' \
    '(-1.0 0.0)  (50 60)' | paste "$dir/weights" - |
    awk -F '\t' 'BEGIN { print "key         value    weight for the query (0.9 0.1)" }
      { print $2 "  " $1 "\t" $1 }' | bars 40
  echo "  mean        ($(attended context))"
}

part2() {
  echo 'The softmax turns scores into weights that sum to 1. Dividing the scores by a
temperature T above 1 makes the weights more equal, T below 1 less equal.
'
  for temperature in 0.5 1 2 5; do
    echo '{"q": [[1]], "k": [[2], [1], [0.5], [-0.5]], "v": [[0], [0], [0], [0]],
      "temperature": '$temperature'}' | attend 4
    attended weights | tr ' ' '\n' > "$dir/weights"
    echo "  T = $temperature"
    printf '%s\n' ' 2.0' ' 1.0' ' 0.5' '-0.5' | paste - "$dir/weights" |
      awk -F '\t' '{ print "score " $1 "  weight " $2 "\t" $2 }' | bars 40
  done
}

part3() {
  echo 'Attention ignores the order of words: each word has the same output in "dog
bites man" and "man bites dog", unless a vector of its position is added to it.
'
  tx-train --describe --preset toy --d-model 4 --heads 1 --tsv positions 2> "$dir/log" |
    sed -n '2,4p' > "$dir/positions"
  for positions in 0 1; do
    [ $positions = 1 ] || echo 'Without positions; rows: queries, columns: keys'
    [ $positions = 0 ] || echo 'With positions'
    for order in 'dog bites man' 'man bites dog'; do
      awk -v order="$order" -v add=$positions '
        BEGIN {
          vector["dog"] = "1 0 0 1"; vector["bites"] = "0 1 0 1"; vector["man"] = "0 0 1 1"
          split(order, word, " ")
        }
        {
          split(vector[word[NR]], v, " ")
          row = ""
          for (i = 1; i <= 4; ++i) row = row (i > 1 ? ", " : "") v[i] + add * $(i + 1)
          rows = rows (NR > 1 ? ", " : "") "[" row "]"
        }
        END { printf "{\"q\": [%s], \"k\": [%s], \"v\": [%s]}", rows, rows, rows }' \
        "$dir/positions" | attend 3
      echo "  $order"
      # shellcheck disable=SC2086  # three words
      attended weights | shades $order > "$dir/map"
      attended context | sed 's/^/   output: /' | paste -d ' ' "$dir/map" -
    done
  done
}

part4() {
  echo 'q.k is a sum of d_k products: if the components have variance 1, it has d_k.
Of large scores the softmax selects one, and its gradient vanishes.
'
  echo '         variance of         mean of the largest of 200 weights'
  echo '    d_k  q.k      scaled     q.k: #, scaled: ='
  for d_k in 1 4 16 64 256; do
    awk -v d_k=$d_k '
      # The minimal standard generator of Park and Miller; a normal variable by Box and Muller.
      function uniform() { state = state * 16807 % 2147483647; return state / 2147483647 }
      function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }
      function matrix(rows, columns,    i, j, text) {
        text = "["
        for (i = 1; i <= rows; ++i) {
          text = text (i > 1 ? "], [" : "[")
          for (j = 1; j <= columns; ++j) text = text (j > 1 ? ", " : "") sprintf("%.6f", normal())
        }
        return text "]]"
      }
      BEGIN {
        state = 1000003
        print "{\"q\": " matrix(200, d_k) ", \"k\": " matrix(200, d_k) ", \"v\": " matrix(200, 1)
        print ", \"temperature\":"
      }' > "$dir/start"
    # A temperature of 1 / sqrt(d_k) undoes the division.
    for temperature in 1 "$(awk -v d_k=$d_k 'BEGIN { printf "%.17g", 1 / sqrt(d_k) }')"; do
      { cat "$dir/start"; echo "$temperature}"; } | attend 6
      [ "$temperature" != 1 ] || sed -n 's/^scores.*variance //p; s/^scaled.*variance //p' \
        "$dir/attended" > "$dir/variances"
      attended weights | awk '{
        max = 0
        for (i = 1; i <= NF; ++i) if ($i > max) max = $i
        sum += max
      } END { printf "%.2f\n", sum / NR }'
    done | paste -s - > "$dir/largest"
    paste -s "$dir/variances" | paste - "$dir/largest" | awk -v d_k=$d_k '{
        for (i = 1; i <= $4 * 40 + 0.5; ++i) plain = plain "#"
        for (i = 1; i <= $3 * 40 + 0.5; ++i) scaled = scaled "="
        printf "  %5d  %-7.2f  %-7.2f    %.2f %s\n", d_k, $1, $2, $4, plain
        printf "%29s%.2f %s\n", "", $3, scaled
      }'
  done
}

part5() {
  echo 'The decoder predicts each word from those before it. The causal mask sets the
scores of later words to minus infinity, so that their weights are 0.
'
  for mask in none causal; do
    echo '{"q": [[1, 0.5], [0.2, 1], [0.8, 0.3]], "k": [[0.9, 0.1], [0.3, 0.8], [0.7, 0.6]],
      "v": [[1, 0], [0, 1], [1, 1]], "mask": "'$mask'"}' | attend 3
    attended weights > "$dir/weights"
    echo "  mask $mask"
    shades the cat sat < "$dir/weights" > "$dir/map"
    sed 's/^/   weights: /' "$dir/weights" | paste -d ' ' "$dir/map" -
  done
}

part6() {
  echo 'A pair of features is a point on a circle. PE(pos + k) is PE(pos) rotated by an
angle that depends on k only. Positions 0 to 6 of the first pair:
'
  size='--preset base --d-model 64 --heads 4'
  # shellcheck disable=SC2086  # several words
  tx-train --describe $size --tsv positions 2> "$dir/log" | awk 'NR > 1 && NR < 9 {
      row = 7 - int($3 * 6 + 6.5) + 6; column = int($2 * 13 + 13.5)
      at[row, column] = $1
    }
    END {
      for (row = 1; row <= 13; ++row) {
        line = ""
        for (column = 0; column <= 26; ++column) {
          x = (column - 13) / 13; y = (7 - row) / 6; r = sqrt(x * x + y * y)
          line = line ((row, column) in at ? at[row, column] : r > 0.94 && r < 1.06 ? "." : " ")
        }
        sub(" *$", "", line)
        print "        " line
      }
    }'
  echo
  # shellcheck disable=SC2086
  tx-train --describe $size --tsv rotation 2> "$dir/log" | awk '
    NR > 1 { if ($4 > worst) worst = $4 }
    NR == 2 || NR == 3 || NR == 33 {
      printf "  features %d and %d: once around in %.2f positions\n", $1, $2, $3
    }
    END {
      print "  largest difference between PE(pos + k) and PE(pos) rotated: " \
        (worst < 1e-12 ? "below 1e-12" : worst)
    }'
  # shellcheck disable=SC2086
  tx-train --describe $size --tsv similarity 2> "$dir/log" |
    awk 'NR == 2 || NR == 12 {
        printf "  cosine of positions %d and %d: %.3f\n", NR - 2, NR - 1, $(NR + 1)
      }
      NR == 2 { far = $52 }
      END { printf "  cosine of positions 0 and 50: %.3f\n", far }'
}

part7() {
  echo 'Models with one head of width d_k learn to reverse digits, with the division by
sqrt(d_k) and without. Only large d_k need it (300 steps, 500 unseen sequences):
'
  sh "$here/reverse.sh" "$dir"
  for d_k in 2 64 256; do
    for option in --scaled-attention --no-scaled-attention; do
      run=$dir/$d_k$option
      quiet log tx-train -q --preset toy --vocab words --src "$dir/train.src" \
        --tgt "$dir/train.tgt" --valid-src "$dir/valid.src" --valid-tgt "$dir/valid.tgt" \
        --heads 1 --d-k $d_k --d-v 64 --label-smoothing 0 --steps 300 --threads 1 $option -o "$run"
      perplexity=$(sed -n 's/.*"validation_perplexity":\([0-9.]*\).*/\1/p' "$run/log.jsonl" |
        tail -n 1)
      tx-decode -q --beam 1 --threads 1 -m "$run" < "$dir/test.src" | paste "$dir/test.tgt" - |
        awk -F '\t' -v d_k=$d_k -v option=$option -v perplexity="$perplexity" '
          $1 == $2 { ++n }
          END {
            divided = option ~ /no/ ? "no" : "yes"
            printf "%-5s %-9s %-11.2f %3d\t%s\n", d_k, divided, perplexity, n, n / NR
          }'
    done
  done | { echo 'd_k   divided   perplexity  reversed' && cat; } | bars 40
}

[ $# -gt 0 ] || set -- 1 2 3 4 5 6 7
for part; do
  case $part in
    [1-7]) ;;
    *) echo "usage: ten_minutes.sh [PART]...; parts are 1 to 7" >&2; exit 2 ;;
  esac
done
for part; do
  echo "== $part"
  "part$part"
  echo
done
