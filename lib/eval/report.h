// Scores as sacreBLEU prints them.
#pragma once
#include <string>

#include "lib/eval/metric.h"

namespace tx {

// The release whose figures lib/eval reproduces. It stands in the signatures, so that a score made
// here can be printed beside one made there.
inline constexpr char sacrebleu_version[] = "2.6.0";

// Rounded to `digits` places, correctly: fixed(2.675, 2) is "2.67", because that double is below.
std::string fixed(double value, int digits);

// "BLEU|nrefs:1|... = 27.3 58.1/33.0/21.0/13.7 (BP = 1.000 ...)"
std::string score_line(const Score& score, int width);

// sacreBLEU's keys (name, score rounded to width, signature, verbose_score, each setting of the
// signature), then the object "statistics".
Json score_json(const Score& score, int width);

}  // namespace tx
