// tx-bpe: train subword models, split text into tokens, join tokens into text.
#include "tools/bpe/commands.h"

namespace {

constexpr char tool[] = "tx-bpe";

template <class Command>
int run(int argc, const char* const* argv) {
  Command command;
  tx::Options options(std::string(tool) + " " + argv[0], Command::summary);
  command.describe(options);
  bool quiet = false;
  options.group("Output");
  options.flag("-q,--quiet", quiet, "print no progress");
  if (!options.parse(argc, argv)) return 0;
  command.run(tx::Log(tool, quiet));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool(tool, [&] {
    return tx::run_command(
        tool, "train and apply subword vocabularies",
        {{"train", "learn a vocabulary from text", run<tx::TrainCommand>},
         {"encode", "split text into tokens", run<tx::EncodeCommand>},
         {"decode", "join tokens into text", run<tx::DecodeCommand>},
         {"vocab", "list a vocabulary", run<tx::VocabCommand>},
         {"shortlist", "write a lexical shortlist for tx-decode", run<tx::ShortlistCommand>}},
        {}, argc, argv);
  });
}
