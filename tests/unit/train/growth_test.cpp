// Models that grow by new tokens: the rows of all of them, in every place that has one per token.
#include "lib/train/input/growth.h"

#include <boost/test/unit_test.hpp>
#include <numeric>

#include "lib/base/io.h"
#include "lib/base/temporary_directory.h"
#include "lib/checkpoint/model_file.h"
#include "lib/subword/model_proto.h"
#include "lib/subword/token_table.h"
#include "tests/model_support.h"
#include "tests/support.h"
#include "tests/unit/subword/subword_samples.h"

using namespace tx;
using namespace tx_test;

namespace {

using Row = std::vector<double>;

// Those of one entry: a row per token.
std::vector<Row> rows_of(const Parameters& p, const ParameterEntry& e) {
  const std::vector<double> block = to_host(p.backend(), p.fp32_weights());
  const std::vector<double> all(block.begin() + e.offset,
                                block.begin() + e.offset + e.rows * e.cols);
  std::vector<Row> rows;
  for (size_t at = 0; at < all.size(); at += size_t(e.per_token()))
    rows.emplace_back(all.begin() + long(at), all.begin() + long(at) + e.per_token());
  return rows;
}

Row mean_of(const std::vector<Row>& rows, const std::vector<int>& ids) {
  Row mean(rows[0].size());
  for (const int id : ids)
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += rows[size_t(id)][i] / double(ids.size());
  return mean;
}

// A model with the vocabularies, saved, and the options to grow it.
struct Saved {
  TemporaryDirectory folder{"tx-test"};
  Vocabularies old;
  TrainOptions options;
  std::vector<std::vector<Row>> before;  // by entry
  ModelConfig config;
  explicit Saved(const Vocabularies& vocabularies, const std::string& tokens,
                 const std::vector<std::string>& languages, Tie tie = Tie::all)
      : old(vocabularies) {
    config.tie = tie;
    config.output_bias = true;
    config.set_vocabularies(old.sizes());
    config.set_layers(1);
    config.d_model = 6, config.d_ff = 8, config.heads = 2;
    config.resolve();
    options.init = folder.path() + "/old.safetensors";
    options.add_language = languages;
    if (!tokens.empty()) {
      options.add_tokens = folder.path() + "/tokens";
      write_atomically(options.add_tokens, tokens);
    }
    Backend backend = make_backend(Device::cpu, 1);
    Parameters p = Parameters::only_weights(backend, config, DType::f32);
    p.initialise(5);
    for (const ParameterEntry& e : p.table()) {
      if (e.name == "output.bias")  // it begins as zeros
        for (int64_t i = 0; i < e.cols; ++i) p.fp32_weights(e).row<float>(0)[i] = 0.5f * float(i);
      before.push_back(rows_of(p, e));
    }
    save_model(options.init, p, old, {{"step", 1}});
  }
  std::string refusal() const {
    return message_of<Error>([&] { grown_vocabularies(old, options); });
  }
};

Vocabularies::Pointer subwords() {
  static const Vocabularies::Pointer v =
      parse_vocabulary(train(sample_text(), 400, 2, {"<2fr>", "<2de>"}), "model");
  return v;
}
Vocabularies::Pointer list(const std::string& words) {
  return parse_vocabulary("tx-words 1\n<pad>\n<unk>\n<s>\n</s>\n" + words, "words");
}

// The tokens from which each new row is made, by side and new token.
using Parents = std::vector<std::vector<std::vector<int>>>;

void check_rows(const Saved& saved, const Parents& parents) {
  const Vocabularies now = grown_vocabularies(saved.old, saved.options);
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    ModelConfig config = saved.config;
    config.set_vocabularies(now.sizes());
    Backend backend = make_backend(Device::cpu, 1);
    Parameters p = Parameters::only_weights(backend, config, dtype);
    load_initial(saved.options, now, p);
    for (size_t i = 0; i < p.table().size(); ++i) {
      const ParameterEntry& e = p.table()[i];
      const std::vector<Row> rows = rows_of(p, e);
      const size_t old = saved.before[i].size();
      BOOST_TEST_CONTEXT(e.name) {
        BOOST_TEST((std::vector<Row>(rows.begin(), rows.begin() + long(old)) == saved.before[i]));
        if (e.tokens < 0) continue;
        const auto& expected = parents.at(size_t(e.tokens));
        BOOST_REQUIRE(rows.size() == old + expected.size());
        for (size_t k = 0; k < expected.size(); ++k)
          BOOST_TEST(rows[old + k] == mean_of(saved.before[i], expected[k]),
                     boost::test_tools::tolerance(1e-6) << boost::test_tools::per_element());
      }
    }
  }
}

std::vector<int> without_space(std::vector<int> ids, const Vocabulary& v) {
  std::erase(ids, v.id_of(space_sign));
  return ids;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(growth)

BOOST_AUTO_TEST_CASE(new_rows_are_means_of_the_old_subwords) {
  const Vocabulary& v = *subwords();
  const std::vector<int> house = without_space(encoded(v, "housedog"), v);
  BOOST_TEST(house.size() > 1u);
  const std::vector<std::vector<int>> each = {
      house, without_space(encoded(v, "<2nl>"), v), {v.id_of("<2de>")}};
  for (const Tie tie : {Tie::all, Tie::target, Tie::none})
    check_rows(Saved({subwords(), 2}, "housedog\n<2nl>\n", {"<2at>=<2de>"}, tie), {each, each});
}

BOOST_AUTO_TEST_CASE(a_word_without_old_tokens_starts_as_the_mean_of_all) {
  std::vector<int> all(7);
  std::iota(all.begin(), all.end(), 0);
  check_rows(Saved({list("a\nb\nc\n"), 2}, "d\n", {}), {{all}, {all}});
}

// A language is a token of the source only; a word may be one of the target.
BOOST_AUTO_TEST_CASE(vocabularies_grow_by_what_they_lack) {
  std::vector<int> all(6);
  std::iota(all.begin(), all.end(), 0);
  const Vocabularies apart({list("<2de>\nx\n"), list("y\nz\n")});
  const Saved saved(apart, "y\nq\n", {"<2nl>=<2de>"}, Tie::target);
  check_rows(saved, {{all, all, {4}}, {all}});
  const Vocabularies now = grown_vocabularies(apart, saved.options);
  BOOST_TEST(now.source().id_of("<2nl>") == 8);
  BOOST_TEST(now.target().id_of("<2nl>") == -1);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_added_is_named) {
  const Vocabularies v(list("<2de>\nx\n"), 2);
  for (const auto& [tokens, message] :
       {std::pair{"new\nx\n", "tokens:2: x is already a token of "},
        {"new\nnew\n", "tokens:2: new occurs twice"},
        {"new\n\nold\n", "tokens:2: an empty line is not a symbol"},
        {"two words\n", "tokens:1: a symbol cannot contain white space"},
        {"</s>\n", "tokens:1: </s> is a special token of every model"}})
    BOOST_TEST(Saved(v, tokens, {}).refusal().find(message) != std::string::npos);
  for (const auto& [language, message] :
       {std::pair{"<2nl>", "--add-language <2nl>=: give TAG=FROM"},
        {"=<2de>", "give TAG=FROM"},
        {"<2nl>=<2fr>", "has no token <2fr>"},
        {"x=<2de>", "x is already a token of "},
        {"new=<2de>", "new is added twice"},
        {"a b=<2de>", "a symbol cannot contain white space"}})
    BOOST_TEST(Saved(v, "new\n", {language}).refusal().find(message) != std::string::npos);
}

// A SentencePiece model of type word does not split a text at its user-defined tokens.
BOOST_AUTO_TEST_CASE(a_vocabulary_that_does_not_find_the_token_is_named) {
  using P = ModelPiece;
  std::string bytes = bpe_model({{"<pad>", 0, P::control},
                                 {"<unk>", 0, P::unknown},
                                 {"<s>", 0, P::control},
                                 {"</s>", 0, P::control},
                                 {"\u2581dog", -1, P::normal}},
                                false, true);
  const size_t type = bytes.rfind("\x18\x02");
  BOOST_REQUIRE(type != bytes.npos);
  bytes[type + 1] = 3;
  const Vocabularies v(parse_vocabulary(bytes, "words"), 2);
  BOOST_TEST(encoded(v.source(), "dog cat") == (std::vector<int>{4, Vocabulary::unk}));
  BOOST_TEST(Saved(v, "new\n", {}).refusal() ==
             "--add-tokens: the vocabulary, of kind sentencepiece, does not find new in a text");
}

BOOST_AUTO_TEST_SUITE_END()
