// tx-train --describe --html: a page with the learning rate, the positional encoding, the
// parameters by block, memory and FLOPs for the given options. --tsv: numbers to plot them
// elsewhere.
#pragma once
#include <string>

#include "lib/base/json.h"
#include "lib/model/config.h"
#include "lib/train/options/options.h"
#include "lib/train/step/plan.h"

namespace tx {

// The page's data.
Json describe_data(const DescribedRun& run, const TrainOptions& options);

// Writes the page to `out` ("-": standard output).
void write_description(const DescribedRun& run, const TrainOptions& options,
                       const std::string& out);

// [step, learning rate] for about 400 steps from 1 to `steps`, with the end of the warm-up.
Json learning_rates(const TrainOptions& options, int64_t d_model, int64_t steps);

// The tables of --tsv. A table has a header; its columns are separated by tabs.
enum class DescribeTable {
  schedule,    // the learning rate of each step
  positions,   // PE(position), a row for each position of the longest sentence
  similarity,  // the cosine of PE(row) and PE(column)
  rotation     // for each pair of features, its wavelength and the largest difference between
               // PE(pos + k) and R(k) PE(pos) over all pos and k (tx-paper(7), 3.5)
};
template <>
struct Names<DescribeTable> {
  static constexpr NameOf<DescribeTable> list[] = {{"schedule", DescribeTable::schedule},
                                                   {"positions", DescribeTable::positions},
                                                   {"similarity", DescribeTable::similarity},
                                                   {"rotation", DescribeTable::rotation}};
};
// Writes a table to standard output. UsageError: it is one of positions, and the model has no
// sinusoids.
void write_table(DescribeTable table, const ModelConfig& config, const TrainOptions& options);

}  // namespace tx
