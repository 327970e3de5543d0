// tx-convert: convert models from and to other toolkits.
#include "kernels/backend.h"
#include "lib/convert/convert.h"

int main(int argc, char** argv) {
  return tx::run_tool("tx-convert", [&] {
    tx::ConvertOptions settings;
    tx::Options options("tx-convert", "convert models from and to other toolkits");
    options.version(tx::describe_backends);
    settings.describe(options);
    if (!options.parse(argc, argv)) return 0;
    settings.resolve();
    tx::convert_model(settings, tx::Log("tx-convert", settings.quiet));
    return 0;
  });
}
