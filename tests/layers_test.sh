# Every include of the tree follows tests/layers.txt, and the check detects every kind of planted
# violation.
: "${TX_LAST:?run it by ctest, which gives it a folder of its own}"
rules=$TX_SOURCE/tests/layers.txt

# check_tree ROOT [RULES]: prints a line per violation.
check_tree() {
  (cd "$1" && find lib kernels tools -type f 2> /dev/null |
    grep -E '\.(h|cpp|cu|cuh|inc)$' | sort | xargs -r awk -v rules="${2:-$rules}" '
    BEGIN {
      while ((getline line < rules) > 0) {
        n = split(line, word, " ")
        if (n == 0 || word[1] ~ /^#/) continue
        if (word[1] == "door") { door[++doors] = word[2]; place[doors] = word[3]; continue }
        known[word[1]] = 1
        for (i = 3; i <= n; ++i) may[word[1], word[i]] = 1
      }
      do {  # includes are transitive
        grown = 0
        for (a in known) for (b in known) for (c in known)
          if ((a, b) in may && (b, c) in may && !((a, c) in may)) { may[a, c] = 1; grown = 1 }
      } while (grown)
      for (a in known) if ((a, a) in may) print rules ": " a " is in a circle"
    }
    function directory(path, part) {
      n = split(path, part, "/")
      if (part[1] == "kernels" && part[2] == "cuda") return n == 3 ? "cuda" : "cuda/" part[3]
      if (part[1] != "lib") return part[1]
      return n == 2 ? "lib" : n == 3 ? part[2] : part[2] "/" part[3]
    }
    function breach(what) { print FILENAME ":" FNR ": " what }
    /^[ \t]*#[ \t]*pragma[ \t]+omp/ && FILENAME !~ /^kernels\/cpu\// {
      breach("OpenMP outside kernels/cpu")
    }
    /^[ \t]*#[ \t]*include/ {
      own = directory(FILENAME)
      if (!(own in known)) { breach("directory " own " is not in tests/layers.txt"); next }
      target = $0
      sub(/^[^"<]*["<]/, "", target)
      sub(/[">].*/, "", target)
      for (d = 1; d <= doors; ++d)
        if (target ~ door[d] && FILENAME !~ place[d])
          breach("<" target "> may only be included in " place[d])
      if ($0 !~ /include[ \t]*"/ || target == "build_info.h") next
      if (target !~ /^(lib|kernels|tools)\//) {
        breach("\"" target "\": write the path from the root of the tree")
        next
      }
      other = directory(target)
      if (other != own && !((own, other) in may)) breach(own " must not include " other)
    }')
}

# planted PATH INCLUDE: a tree with this violation must be reported, with its place.
planted() {
  rm -rf planted
  mkdir -p "planted/$(dirname "$1")"
  printf '#pragma once\n%s\n' "$2" > "planted/$1"
  check_tree planted > breaches
  grep -q "^$1:2: " breaches || fail "not detected: $2 in $1"
}
planted lib/base/io.cpp '#include "lib/cli/options.h"'
planted kernels/cpu/gemm.cpp '#include "lib/tensor/tensor.h"'
planted lib/train/run/trainer.cpp '#include "lib/search/engine/beam.h"'
planted lib/search/engine/beam.cpp '#include "lib/train/run/trainer.h"'
planted lib/search/engine/beam.cpp '#include "lib/data/packing.h"'
planted lib/train/run/trainer.cpp '#include "lib/diagnose/training.h"'
planted lib/search/lines/stream.cpp '#include "lib/diagnose/translation.h"'
planted lib/search/rules/rules.cpp '#include "lib/search/engine/beam.h"'
planted lib/search/engine/beam.cpp '#include "lib/search/lines/stream.h"'
planted lib/train/options/options.cpp '#include "lib/train/plan/settle.h"'
planted lib/train/input/data.cpp '#include "lib/train/ranks/replicas.h"'
planted lib/train/step/feed.cpp '#include "lib/train/plan/memory.h"'
planted lib/train/plan/memory.cpp '#include "lib/train/run/run.h"'
planted lib/eval/metrics/bleu.cpp '#include "lib/eval/report/report.h"'
planted lib/diagnose/parity.cpp '#include "lib/attention/heatmap.h"'
planted lib/text/corpus.cpp '#include "lib/subword/subword.h"'
planted lib/subword/subword_nmt/codes.cpp '#include "lib/eval/report/report.h"'
planted lib/eval/metrics/bleu.cpp '#include "lib/tensor/tensor.h"'
planted lib/ops/linear.cpp '#include <cblas.h>'
planted lib/ops/linear.cpp '  #  include <omp.h>'
planted lib/ops/linear.cpp '#pragma omp parallel for'
planted kernels/cuda/products/gemm.cu '#include <oneapi/dnnl/dnnl.hpp>'
planted kernels/cuda/products/gemm.cu '#include "lib/tensor/tensor.h"'
planted kernels/cuda/rows/norm.cu '#include "kernels/cuda/products/gemm.h"'
planted kernels/cuda/products/gemm.cu '#include "kernels/cuda/attention/attention.h"'
planted kernels/cuda/runtime/memory.cu '#include "kernels/cuda/products/blaslt.h"'
planted kernels/cuda/cuda.cu '#include "kernels/cuda/attention/attention.h"'
planted kernels/cuda/unknown/x.cu '#include "kernels/cuda.h"'
planted kernels/open.cpp '#include "kernels/cuda/runtime/state.h"'
planted lib/ops/linear.cpp '#include "kernels/cuda/runtime/device.h"'
planted kernels/cpu/gemm.cpp '#include <cuda_runtime.h>'
planted tools/tx-bleu.cpp '#include <CLI/CLI.hpp>'
planted lib/cli/options.h '#include <CLI/App.hpp>'
planted lib/data/cache.cpp '#include <zlib.h>'
planted lib/base/io.h '#include <xxhash.h>'
planted lib/subword/subword.h '#include <sentencepiece_processor.h>'
planted lib/model/config.cpp '#include <nlohmann/json.hpp>'
planted lib/base/io.cpp '#include "io.h"'
planted lib/base/io.cpp '#include "../cli/options.h"'
planted lib/unknown/x.cpp '#include "lib/base/io.h"'

# A circle of directories is reported, with each of them.
{ cat "$rules" && echo 'train/options < train/run'; } > circle.txt
check_tree planted "$PWD/circle.txt" > breaches
for directory in options input ranks step plan run; do
  grep -q "circle.txt: train/$directory is in a circle" breaches || fail "no circle: $directory"
done
! grep -q ': checkpoint is in a circle' breaches || fail "$(cat breaches)"

# Allowed includes are not reported.
rm -rf planted
mkdir -p planted/lib/search/engine planted/tools
printf '#include "lib/base/io.h"\n#include "kernels/backend.h"\n' > planted/lib/search/engine/beam.cpp
printf '#include "lib/train/run/trainer.h"\n#include <string>\n' > planted/tools/tx-train.cpp
mkdir -p planted/lib/diagnose
printf '#include "lib/train/step/step.h"\n#include "lib/search/engine/translator.h"\n' > planted/lib/diagnose/x.cpp
[ -z "$(check_tree planted)" ] || fail "reported although allowed: $(check_tree planted)"

check_tree "$TX_SOURCE" > breaches
[ ! -s breaches ] || fail "$(cat breaches)"
