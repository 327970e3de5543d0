// A folder of Hugging Face's LlamaForCausalLM: config.json, generation_config.json,
// model.safetensors and tokenizer.model with the settings of its tokeniser. Llama does not scale its
// embedding: one that is scaled is written times sqrt(d_model), and the output beside it.
#pragma once
#include "lib/checkpoint/model_file.h"

namespace tx {

class OutputFolder;

// DataError names what Llama has no room for.
void write_llama(OutputFolder& folder, const ModelReader& model, int max_positions);

}  // namespace tx
