// A folder of Hugging Face's MarianMT: config.json, model.safetensors, vocab.json, source.spm,
// target.spm and what its tokeniser and its search are told.
//
// MarianMT has sines in the first half of a position's vector and cosines in the second, tx has
// them in turn. The same order of dimensions in every weight that reads or makes a vector of the
// model is the same model: dimension 2i becomes i, dimension 2i + 1 becomes d_model / 2 + i.
#pragma once
#include "lib/base/log.h"
#include "lib/checkpoint/model_file.h"

namespace tx {

class OutputFolder;

// DataError names what MarianMT has no room for; a warning tells where it computes a little
// differently.
void write_marian(OutputFolder& folder, const ModelReader& model, int max_positions,
                  const Log& log);

}  // namespace tx
