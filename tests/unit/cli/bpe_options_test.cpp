// The commands of tx-bpe for every_option_test.cpp, apart since two headers have a LineEncoder.
#include "tests/unit/cli/every_option.h"
#include "tools/bpe/commands.h"

std::vector<tx_test::Tool> tx_test::bpe_commands() {
  return {with<tx::TrainCommand>, with<tx::EncodeCommand>, with<tx::DecodeCommand>,
          with<tx::VocabCommand>, with<tx::ShortlistCommand>};
}
