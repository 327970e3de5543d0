// CTranslate2's folder: model.bin (version 6), config.json, the tokens of each vocabulary as JSON,
// and beside them the subword models, which CTranslate2 itself does not read.
//
// model.bin, little-endian: u32 6; the class; u32 its revision; u32 count, then the variables
// sorted by name (name, u8 rank, u32 dims, u8 dtype, u32 bytes, data); u32 count, then aliases
// (name, the variable that it stands for). A string is a u16 length that counts its NUL, then its
// bytes.
#pragma once
#include "lib/checkpoint/model_file.h"

namespace tx {

class OutputFolder;

// `max_positions`: rows of the table of sinusoids, the longest sentence that CTranslate2 will take.
// DataError names what CTranslate2's Transformer has no room for.
void write_ctranslate2(OutputFolder& folder, const ModelReader& model, int max_positions);

}  // namespace tx
