# Functions of measure.sh: figures and their summary.

# figure WHAT BUILD VALUE: speeds in tokens/s, times in us.
figure() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >> "$out/figures.tsv"; }

# Lines of decode_bench and cuda_bench on standard input.
figures_of_decoding() { # BUILD
  awk -v build="$1" -v OFS='\t' '
    / tokens\/s$/ { print "decode " $5 " sentences, " $11 + 0 " workers", build, $(NF - 1) }
    /^  step of / { print "step of " $3 " rows", build, $(NF - 1) }' >> "$out/figures.tsv"
}
figures_of_kernels() { # BUILD
  awk -v build="$1" -v OFS='\t' '
    match($0, / +[0-9.]+ us/) && /^(rows |attention|causal attention|add_norm)/ {
      name = substr($0, 1, RSTART - 1)
      split(substr($0, RSTART), x, " ")
      print name, build, x[1]
    }' >> "$out/figures.tsv"
}

# summary FIGURES: medians of each figure, what an H200 had at commit 1901c39b, and what was
# predicted for it (tests/bench/RESULTS.md, section GPU). Tokens/s, or us where it says so.
summary() {
  awk -F '\t' -v try="$TRY" '
    function known(name, old, prediction) { before[name] = old; predicted[name] = prediction }
    function median(list,    x, n, i, j, t) {
      n = split(list, x, " ")
      if (x[1] + 0 != x[1]) return x[n]
      for (i = 2; i <= n; ++i)
        for (j = i; j > 1 && x[j - 1] + 0 > x[j] + 0; --j) { t = x[j]; x[j] = x[j - 1]; x[j - 1] = t }
      return x[int((n + 1) / 2)]
    }
    BEGIN {
      n = split(try, tried, " ")
      known("train base", "1824000", "2170000: 23.0 ms; 22.2 with branches, 22.4 with dx")
      known("train big", "728000", "832000: 60.1 ms; 58.6 with branches")
      known("decode 1 sentences, 1 workers", "2392", "3200: 310 us a step; 4100 with early, 5500 with norms and heads")
      known("decode 32 sentences, 1 workers", "61200", "100000 with early")
      known("decode 1024 sentences, 2 workers", "313800", "600000 with wgmma")
      known("step of 4 rows", "418 us with search", "300 us; 240 with early, 210 with norms, 180 with heads")
      known("step of 128 rows", "520 us with search", "420 us; 340 with early")
      known("step of 4096 rows", "3260 us with search", "1600 us; 900 with wgmma")
      known("attention_cached, 4096 rows, 15 keys by a list", "", "2/3 of 1901c39b: 24 instead of 16 warps")
      known("attention_cached, 4096 rows, 30 of the source", "", "1/3 of 1901c39b: on tensor cores")
      known("PyTorch base eager", "286000 padded", "")
      known("CTranslate2 float16 32", "", "more than 10991, of an A10G")
    }
    !($1 in seen) { seen[$1]; name[++names] = $1 }
    { values[$1, $2] = values[$1, $2] " " $3 }
    END {
      printf "%-48s %12s %12s  %-20s %s\n", "figure (median)", "a", "b or peer", "H200, 1901c39b", "prediction"
      for (i = 1; i <= names; ++i) {
        x = name[i]
        other = values[x, "b"] values[x, "-"]
        printf "%-48s %12s %12s  %-20s %s\n", x, median(values[x, "a"]), median(other), before[x], predicted[x]
        for (k = 1; k <= n; ++k)
          if ((x, tried[k]) in values)
            printf "%-48s %12s\n", "  with TX_CUDA_TRY=" tried[k], median(values[x, tried[k]])
      }
    }' "$1"
}
