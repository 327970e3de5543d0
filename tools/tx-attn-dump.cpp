// tx-attn-dump: extract and draw attention weights.
#include "kernels/backend.h"
#include "lib/attention/calculator.h"
#include "lib/attention/dump.h"
#include "lib/live/live.h"

int main(int argc, char** argv) {
  return tx::run_tool("tx-attn-dump", [&] {
    tx::DumpOptions settings;
    tx::Options options("tx-attn-dump", "extract and draw attention weights");
    options.usage("tx-attn-dump -m MODEL [OPTION]... < TEXT > attention.jsonl");
    options.usage("tx-attn-dump -m MODEL --format safetensors -o FILE < TEXT");
    options.usage("tx-attn-dump -m MODEL --heatmap < TEXT");
    options.usage("tx-attn-dump -m MODEL --html page.html < TEXT");
    options.usage("tx-attn-dump -m MODEL --html page.html --live [EXAMPLES]");
    options.usage("tx-attn-dump -m MODEL --svg picture.svg < TEXT");
    options.usage("tx-attn-dump --qkv matrices.json");
    options.version(tx::describe_backends);
    settings.describe(options);
    bool quiet = false;
    options.group("Output");
    options.flag("-q,--quiet", quiet, "print no progress");
    if (!options.parse(argc, argv)) return 0;
    settings.check();
    if (!settings.qkv.empty()) {
      tx::write_steps(settings);
      return 0;
    }
    settings.check_model(options);
    const tx::Log log("tx-attn-dump", quiet);
    if (settings.live)
      tx::write_live_page(settings, log);
    else
      tx::dump_attention(settings, log);
    return 0;
  });
}
