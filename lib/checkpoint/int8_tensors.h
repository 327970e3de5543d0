// 8-bit weights in files, tx-model(5): the tensor NAME of bytes in the layout of kernels/int8.h, so
// that products read the mapped file in place, and NAME.scale, one fp32 scale per row.
#pragma once
#include <span>
#include <vector>

#include "kernels/int8.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/model/parameters.h"

namespace tx {

// Whether the entry is quantised in a file of 8-bit weights: matrices of products, and embeddings.
bool is_quantised(const ParameterEntry& entry);
std::string scale_name(const ParameterEntry& entry);
std::vector<int64_t> int8_shape(const ParameterEntry& entry);  // [groups, quads, 16, 4]

// The two tensors of the quantised `rows`, padding included. `rows` must outlive them.
std::vector<TensorSource> int8_tensors(const ParameterEntry& entry, const WeightRows& rows);

// The rows of a tensor of any dtype that models have; padding rows are zero. The file must outlive
// them.
WeightRows rows_of_tensor(const SafetensorsReader& file, const ParameterEntry& entry);
// The entries as one matrix in the mapped file, if they are adjacent, aligned 8-bit weights in
// whole groups; else `groups` is null. `scales` receives the scales of all rows.
Int8Weights mapped_int8(const SafetensorsReader& file, std::span<const ParameterEntry> joined,
                        std::vector<float>& scales);

}  // namespace tx
