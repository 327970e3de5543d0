// Conversion of values between files and the backend's memory, for readers and writers of models.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "kernels/int8.h"
#include "lib/checkpoint/safetensors.h"
#include "lib/model/parameters.h"

namespace tx {

// Converts `count` elements of a file; dtype is F32, F64 or BF16. Rounds to nearest even.
void to_doubles(const char* bytes, const std::string& dtype, int64_t count, double* values);
void from_doubles(const double* values, int64_t count, const std::string& dtype, char* bytes);
void to_floats(const char* bytes, const std::string& dtype, int64_t count, float* values);
bool is_floating(const std::string& dtype);  // F32, F64 or BF16
// The dtype of a file that stores f32 or f64 exactly: "F32" or "F64".
std::string exact_dtype(DType dtype);

// The shape in files: [cols] or [rows, cols], without padding.
std::vector<int64_t> file_shape(const ParameterEntry& entry);

// `entry` of a flat block (f32 or f64) as a tensor to write. The parameters must outlive it.
TensorSource entry_tensor(const Parameters& parameters, Matrix block, const ParameterEntry& entry,
                          const std::string& name, const std::string& dtype);

// The rows of an entry without padding, read from `rows`, as a tensor; dtype is F32 or BF16.
TensorSource float_tensor(const ParameterEntry& entry, const WeightRows& rows,
                          const std::string& dtype);

// Fills `entry` of a block from a tensor of the same shape; the padding rows become zero.
void load_entry(const SafetensorsReader& file, const TensorInfo& tensor,
                const Parameters& parameters, Matrix block, const ParameterEntry& entry);

// 8-bit weights in files, tx-model(5): the tensor NAME of bytes in the layout of kernels/int8.h, so
// that products read the mapped file in place, and NAME.scale, one fp32 scale per row.

// Whether the entry is quantised in a file of 8-bit weights: matrices of products, and embeddings.
bool is_quantised(const ParameterEntry& entry);
std::string scale_name(const ParameterEntry& entry);
std::vector<int64_t> int8_shape(const ParameterEntry& entry);  // [groups, quads, 16, 4]

// The two tensors of the quantised `rows`, padding included. `rows` must outlive them.
std::vector<TensorSource> int8_tensors(const ParameterEntry& entry, const WeightRows& rows);

// The rows of a tensor of any dtype; padding rows are zero. The file must outlive them.
WeightRows rows_of_tensor(const SafetensorsReader& file, const ParameterEntry& entry);
// The entries as one matrix in the mapped file, if they are adjacent, aligned 8-bit weights in
// whole groups; else `groups` is null. `scales` receives the scales of all rows.
Int8Weights mapped_int8(const SafetensorsReader& file, std::span<const ParameterEntry> joined,
                        std::vector<float>& scales);

}  // namespace tx
