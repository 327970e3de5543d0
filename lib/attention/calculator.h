// tx-attn-dump --qkv: attention of matrices that the user gives, step by step, in fp64
// (Vaswani et al. 2017, equation 1):
//
//   scores  = q k^T                                  (queries, keys)
//   scaled  = scores / (sqrt(d_k) temperature)       (queries, keys)
//   masked  = scaled; minus infinity where masked    (queries, keys)
//   weights = softmax(masked) of each row            (queries, keys)
//   context = weights v                              (queries, d_v)
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "lib/attention/options.h"

namespace tx {

using Rows = std::vector<std::vector<double>>;  // of a matrix, all of one length

// What the file gives.
struct AttentionInputs {
  Rows q, k, v;                            // (queries, d_k), (keys, d_k), (keys, d_v)
  std::string mask = "none";               // "none", "causal" or "given"
  std::vector<std::vector<bool>> visible;  // (queries, keys), for any mask
  double temperature = 1;
};

struct AttentionSteps {
  Rows scores, scaled, masked, weights, context;
  // Variances (divided by the number) over the entries that are not masked.
  double scores_variance = 0, scaled_variance = 0;
};

// The object of tx-attn-dump(1), MATRICES. DataError "`where`: ..." names the member.
AttentionInputs parse_matrices(std::string_view json, const std::string& where);
AttentionSteps attend(const AttentionInputs& inputs);

// For reading: each matrix below its name, equation and shape. Numbers are rounded to `digits`
// decimal places; zeros at the end of all numbers of a matrix are dropped.
std::string steps_as_text(const AttentionInputs& inputs, const AttentionSteps& steps, int digits);
Json steps_as_json(const AttentionInputs& inputs, const AttentionSteps& steps);

// Reads options.qkv and writes all steps in options.format to options.out.
void write_steps(const DumpOptions& options);

}  // namespace tx
