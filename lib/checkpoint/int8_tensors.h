// 8-bit weights in files, tx-model(5): a tensor of bytes laid out as kernels/int8.h says, so that
// products read it where it is mapped, and beside it NAME.scale, one fp32 for each row.
#pragma once
#include <span>
#include <vector>

#include "kernels/int8.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/model/parameters.h"

namespace tx {

// Whether a file of 8-bit weights holds this entry so: matrices that are multiplied, embeddings.
bool is_quantised(const ParameterEntry& entry);
std::string scale_name(const ParameterEntry& entry);
std::vector<int64_t> int8_shape(const ParameterEntry& entry);  // [groups, quads, 16, 4]

// The two tensors that stand for `rows`, which must outlive them; padding included.
std::vector<TensorSource> int8_tensors(const ParameterEntry& entry, const WeightRows& rows);

// Rows of a tensor of any dtype that models have, those behind the entry's own being zeros. The
// file must outlive them.
WeightRows rows_of_tensor(const SafetensorsReader& file, const ParameterEntry& entry);
// The entries as one matrix where they are 8-bit weights behind one another, aligned and in whole
// groups; else `groups` is null. `scales` gets those of all rows.
Int8Weights mapped_int8(const SafetensorsReader& file, std::span<const ParameterEntry> joined,
                        std::vector<float>& scales);

}  // namespace tx
