// tx-avg: average the weights of models.
#include "kernels/backend.h"
#include "lib/base/log.h"
#include "lib/checkpoint/average.h"
#include "lib/cli/options.h"

namespace {

void describe(tx::Options& options, tx::AverageOptions& settings, bool& quiet) {
  options.usage("tx-avg [OPTION]... -o FILE MODEL...");
  options.usage("tx-avg --last N|--best N [OPTION]... -o FILE RUN");
  options.group("Input");
  options
      .positional("MODEL", settings.inputs, "model file, or run directory",
                  "Of a run directory the best model is taken, else the last one; with --last or "
                  "--best several.")
      .must();
  options
      .add("--last", settings.last, "N", "the newest N models of a run directory",
           "The model of step 0, which was never trained, does not count.")
      .range(1, 1000000)
      .excludes({"--best"});
  options
      .add(
          "--best", settings.best, "N", "the N models of a run with the best validation",
          "They are compared by what the run chose its best model by: its --valid-metric, the loss "
          "of the validation text where it names none, or the score of its --valid-command. "
          "Models that were saved without one do not count.")
      .range(1, 1000000)
      .excludes({"--last"});
  options.group("Output");
  options.add("-o,--out", settings.out, "FILE", "model file to write").must();
  options.flag("-q,--quiet", quiet, "do not name the models that were averaged");
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool("tx-avg", [&] {
    tx::AverageOptions settings;
    bool quiet = false;
    tx::Options options("tx-avg", "average the weights of models");
    options.version(tx::describe_backends);
    describe(options, settings, quiet);
    if (!options.parse(argc, argv)) return 0;
    tx::average_models(settings, tx::Log("tx-avg", quiet));
    return 0;
  });
}
