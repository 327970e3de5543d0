// tx-attn-dump --live: an HTML page that contains models and runs them in the browser.
// lib/live/README.md describes it.
#pragma once
#include "lib/attention/options.h"
#include "lib/base/log.h"

namespace tx {

inline constexpr int live_page_format = 1;
inline constexpr size_t max_live_models = 2, max_live_examples = 100;

// Writes the page of options.translator.models with the lines of options.files as examples.
// UsageError: the page would exceed options.page_limit(), or the models cannot be compared.
void write_live_page(const DumpOptions& options, const Log& log);

}  // namespace tx
