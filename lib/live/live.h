// tx-attn-dump --live: an HTML page that contains models and runs them in the browser.
// lib/live/page has its scripts: the page, and the engine, which runs in a Web Worker.
//
// The page's `data`:
//   format    1; a reader must refuse other numbers
//   models    name, kind, checksum (as in the file), precision ("int8" or "f16"), config (every key
//             of tx-model(5)), vocabularies, tensors
//   examples  sentences to choose from
// A vocabulary: kind ("sentencepiece", "words" or, with the ids of another toolkit, "mapped"), hash
// (XXH3) and bytes (base64, as in the model file); one if all sides share it, else one per side.
// A tensor: shape, type ("int8", "f16" or "f32"), at; int8 also scales_at. The element "weights-N"
// has the bytes of model N (base64, little-endian): at `at` the elements by rows, at `scales_at` an
// fp32 per row, where an int8 weight is its scale times its element. Both are multiples of 8.
#pragma once
#include "lib/attention/options.h"
#include "lib/base/log.h"

namespace tx {

inline constexpr int live_page_format = 1;
inline constexpr size_t max_live_models = 2, max_live_examples = 100;

// Writes the page of options.models with the lines of options.files as examples. UsageError: the
// page would exceed options.page_limit(), or the models cannot be compared.
void write_live_page(const DumpOptions& options, const Log& log);

}  // namespace tx
