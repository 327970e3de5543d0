// tx-avg: average the weights of models.
#include "kernels/backend.h"
#include "lib/checkpoint/average.h"

int main(int argc, char** argv) {
  return tx::run_tool("tx-avg", [&] {
    tx::AverageOptions settings;
    tx::Options options("tx-avg", "average the weights of models");
    options.version(tx::describe_backends);
    settings.describe(options);
    if (!options.parse(argc, argv)) return 0;
    tx::average_models(settings, tx::Log("tx-avg", settings.quiet));
    return 0;
  });
}
