// tx-bpe: subword models: train one, cut text into pieces, join pieces into text.
#include "tools/bpe/commands.h"

namespace {

constexpr char tool[] = "tx-bpe";

template <class Command>
int run(int argc, const char* const* argv) {
  Command command;
  tx::Options options(std::string(tool) + " " + argv[0], Command::summary);
  command.describe(options);
  if (!options.parse(argc, argv)) return 0;
  command.run(tx::Log(tool));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return tx::run_tool(tool, [&] {
    return tx::run_command(tool, "vocabularies of subwords",
                           {{"train", "learn a vocabulary from text", run<tx::TrainCommand>},
                            {"encode", "cut lines of text into pieces", run<tx::EncodeCommand>},
                            {"decode", "join pieces into lines of text", run<tx::DecodeCommand>},
                            {"vocab", "list a vocabulary", run<tx::VocabCommand>},
                            {"shortlist", "write which target pieces go with a source piece",
                             run<tx::ShortlistCommand>}},
                           {}, argc, argv);
  });
}
