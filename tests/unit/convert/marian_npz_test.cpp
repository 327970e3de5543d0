// Models of Marian with changed settings, weights or vocabularies. Unchanged models are compared
// with Marian in tests/cli/tx-convert/marian_npz.sh.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "lib/base/error.h"
#include "lib/convert/families/family.h"
#include "lib/convert/formats/tensors.h"
#include "tests/support.h"
#include "tests/unit/convert/samples.h"

using namespace tx;
using namespace tx_test;

namespace {

const std::string golden = TX_SOURCE_DIR "/tests/golden/marian_npz/";

struct Array {
  std::string dtype, bytes;
  std::vector<int64_t> shape;
};

// The arrays and settings of a golden model, to be changed and packed again.
struct Parts {
  explicit Parts(const std::string& form) : folder(golden + form + "/") {
    const ForeignTensors all = read_npz(folder + "model.npz");
    for (const auto& [name, t] : all.all()) {
      const bool text = t.dtype == "I8";
      const auto size = size_t(t.elements()) * (text ? 1 : 4);
      arrays[name] = {text ? "<i1" : "<f4", std::string(t.bytes.substr(0, size)), t.shape};
    }
    std::string& bytes = arrays.at("special:model.yml").bytes;
    settings = bytes.substr(0, bytes.find('\0'));
  }
  // Replaces the line of this key and the list below it; "" removes them.
  void set(const std::string& key, const std::string& line) {
    const size_t at = settings.find("\n" + key + ":") + 1;
    BOOST_REQUIRE(at != 0);
    size_t end = settings.find('\n', at) + 1;
    while (end < settings.size() && settings[end] == ' ') end = settings.find('\n', end) + 1;
    settings.replace(at, end - at, line.empty() ? "" : line + "\n");
  }
  void pack(const TempFolder& to) {
    Array& text = arrays.at("special:model.yml");
    text.bytes = settings + std::string(3, '\0');
    text.shape = {int64_t(text.bytes.size())};
    std::vector<ZipEntry> entries;
    for (const auto& [name, a] : arrays) {
      std::string shape;
      for (const int64_t d : a.shape) shape += std::to_string(d) + ",";
      entries.push_back(
          {name + ".npy", npy_bytes("{'descr': '" + a.dtype +
                                        "', 'fortran_order': False, 'shape': (" + shape + "), }",
                                    a.bytes)});
    }
    to.file("model.npz", zip_bytes(entries));
    for (const char* name : {"model.npz.decoder.yml", "vocab.spm", "vocab.en.yml", "vocab.de.yml",
                             "vocab.en.spm", "vocab.de.spm"})
      if (const std::string bytes = bytes_of(folder + name); !bytes.empty()) to.file(name, bytes);
  }

  std::string folder, settings;
  std::map<std::string, Array> arrays;
};

ModelConfig config_of(const std::string& form, const std::function<void(Parts&)>& change) {
  const TempFolder folder;
  Parts parts(form);
  change(parts);
  parts.pack(folder);
  return import_model(folder.path()).content.config;
}

void refused(const std::string& text, const std::function<void(Parts&)>& change,
             const std::string& form = "tied") {
  const std::string message = message_of<DataError>([&] { config_of(form, change); });
  BOOST_TEST(message.find(text) != std::string::npos, message << " lacks " << text);
}

void refused_setting(const std::string& key, const std::string& value, const std::string& text) {
  refused(text, [&](Parts& p) { p.set(key, key + ": " + value); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(settings_become_those_of_tx) {
  const ModelConfig tied = config_of("tied", [](Parts&) {});
  BOOST_TEST((tied.activation == Activation::silu && tied.tie == Tie::all && !tied.pre_norm()));
  BOOST_TEST(tied.norm_epsilon == 1e-6);
  const ModelConfig pre = config_of("pre", [](Parts&) {});
  BOOST_TEST((pre.activation == Activation::relu && pre.tie == Tie::target && pre.pre_norm()));
  const ModelConfig untied = config_of("untied", [](Parts&) {});
  BOOST_TEST((untied.activation == Activation::gelu && untied.tie == Tie::none));
}

BOOST_AUTO_TEST_CASE(gelu_of_older_versions_is_their_approximation) {
  for (const auto& [version, exact] : {std::pair{"version: v1.12.1 c 2024", true},
                                       {"version: v2.0.0", true},
                                       {"version: v1.12.0 65bf82ff 2023-02-20", false},
                                       {"version: v1.9.5", false},
                                       {"version: unknown", false},
                                       {"", false}}) {
    const ModelConfig c =
        config_of("untied", [text = version](Parts& p) { p.set("version", text); });
    BOOST_TEST((c.activation == (exact ? Activation::gelu : Activation::gelu_sigmoid)), version);
  }
}

BOOST_AUTO_TEST_CASE(settings_that_older_versions_lack_have_their_defaults) {
  const ModelConfig c = config_of("tied", [](Parts& p) {
    for (const char* key :
         {"transformer-postprocess-top", "transformer-attention-mask", "transformer-no-bias",
          "output-omit-bias", "transformer-pool", "transformer-decoder-dim-ffn", "lemma-dim-emb"})
      p.set(key, "");
  });
  BOOST_TEST(!c.pre_norm());
}

BOOST_AUTO_TEST_CASE(the_output_of_older_versions_is_not_turned) {
  const auto rows_of = [](const std::function<void(Parts&)>& change) {
    const TempFolder folder;
    Parts parts("untied");
    change(parts);
    parts.pack(folder);
    const ForeignModel model = import_model(folder.path());
    for (const TensorSource& w : model.content.weights) {
      if (w.name != "output.weight") continue;
      std::string bytes;
      w.produce([&](const void* data, size_t size) {
        bytes.append(static_cast<const char*>(data), size);
      });
      return bytes;
    }
    return std::string();
  };
  const std::string turned = rows_of([](Parts& p) {
    const Array newer = p.arrays.at("decoder_ff_logit_out_Wt");
    Array older = newer;
    const size_t rows = size_t(newer.shape[0]), cols = size_t(newer.shape[1]);
    std::swap(older.shape[0], older.shape[1]);
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < cols; ++j)
        older.bytes.replace((j * rows + i) * 4, 4, newer.bytes, (i * cols + j) * 4, 4);
    p.arrays.erase("decoder_ff_logit_out_Wt");
    p.arrays["decoder_ff_logit_out_W"] = older;
  });
  const std::string straight = rows_of([](Parts&) {});
  BOOST_TEST(!straight.empty());
  BOOST_TEST(turned == straight);
}

BOOST_AUTO_TEST_CASE(what_tx_does_not_have_is_refused_by_name) {
  refused_setting("type", "s2s", "model type \"s2s\" is not supported; only transformer is");
  refused_setting("type", "amun", "model type \"amun\" is not supported");
  refused_setting("transformer-decoder-autoreg", "average-attention",
                  "transformer-decoder-autoreg is \"average-attention\"");
  refused_setting("transformer-decoder-autoreg", "average-attention",
                  "transformer-decoder-autoreg is \"average-attention\"; only \"self-attention\"");
  refused_setting("transformer-decoder-autoreg", "rnn",
                  "dec-cell is \"gru\"; only \"ssru\" is supported");
  refused_setting("transformer-train-position-embeddings", "true",
                  "transformer-train-position-embeddings is true");
  refused_setting("transformer-attention-mask", "alibi", "transformer-attention-mask is \"alibi\"");
  refused_setting("transformer-ffn-depth", "3", "transformer-ffn-depth is 3");
  refused_setting("transformer-decoder-dim-ffn", "99",
                  "transformer-decoder-dim-ffn and transformer-dim-ffn differ");
  refused_setting("transformer-ffn-activation", "tanh",
                  "transformer-ffn-activation is \"tanh\", which is not supported");
  refused_setting("transformer-postprocess", "dar", "are \"\", \"ar\" and \"\" without d");
  refused_setting("transformer-preprocess", "n", "are \"n\", \"an\" and \"\" without d");
  refused_setting("transformer-postprocess-emb", "dn", "a norm on embeddings is not supported");
  refused_setting("lemma-dim-emb", "16", "lemma-dim-emb is 16");
  refused_setting("right-left", "true", "right-left is true");
  refused_setting("transformer-tied-layers", "[1, 1]", "transformer-tied-layers is [1,1]");
  refused_setting("enc-depth", "1001", "enc-depth is not a whole number from 0 to 1,000");
  refused_setting("dec-depth", "{}", "model.npz: special:model.yml:");
}

BOOST_AUTO_TEST_CASE(weights_must_be_those_of_the_settings) {
  refused("has no tensor encoder_l1_self_Wq",
          [](Parts& p) { p.arrays.erase("encoder_l1_self_Wq"); });
  refused("has no tensor encoder_l2_self_Wq", [](Parts& p) { p.set("enc-depth", "enc-depth: 2"); });
  refused(
      "has the tensor \"decoder_l2_self_Wq\", which belongs to a component that is not supported",
      [](Parts& p) { p.arrays["decoder_l2_self_Wq"] = p.arrays.at("decoder_l1_self_Wq"); });
  refused("has the tensor \"decoder_l1_rnn_ffn_ln_scale\", which belongs to a component",
          [](Parts& p) {
            p.arrays["decoder_l1_rnn_ffn_ln_scale"] = p.arrays.at("decoder_l1_ffn_ffn_ln_scale");
          });
  refused("encoder_l1_ffn_W1 has shape [18, 12], but the configuration requires [12, 18]",
          [](Parts& p) {
            p.arrays["encoder_l1_ffn_W1"].shape = {18, 12};
          });
  refused("has no tensor Wemb", [](Parts& p) { p.arrays.erase("Wemb"); });
}

BOOST_AUTO_TEST_CASE(an_archive_without_settings_is_no_model) {
  const TempFolder folder;
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
  folder.file("model.npz", zip_bytes({{"Wemb.npy", npy_bytes(header, float_bytes({1}))}}));
  BOOST_TEST(message_of<DataError>([&] { import_model(folder.path()); }) ==
             folder.path() + "/model.npz is not a Marian model: it has no array special:model.yml");
  folder.file("model.npz", zip_bytes({{"special:model.yml.npy", npy_bytes(header, "abcd")}}));
  BOOST_TEST(message_of<DataError>([&] { import_model(folder.path()); }) ==
             folder.path() + "/model.npz: special:model.yml is not text");
}

BOOST_AUTO_TEST_CASE(eight_bits_in_a_bin) {
  const std::string bytes = marian_bin();
  BOOST_TEST(is_marian_bin(bytes));
  const ForeignTensors all = parse_marian_bin(bytes, "F");
  const auto values = [&](const std::string& name, const std::vector<int64_t>& shape) {
    const WeightRows rows = all.scaled_rows(name, shape);
    std::vector<float> out(size_t(rows.rows * rows.cols));
    rows.read(0, rows.rows, out.data());
    if (rows.scale) out.push_back(rows.scale(rows.rows - 1));
    return out;
  };
  BOOST_TEST((values("Wemb", {2, 2}) == std::vector<float>{1, 2, -1, 31.75f, 0.25f}));
  BOOST_TEST((values("l_W", {3, 2}) == std::vector<float>{1, 2, 3, 4, -1, -63.5f, 0.5f}));
  BOOST_TEST((values("l_b", {2}) == std::vector<float>{0.5f, 1}));
  for (size_t size = 8; size < bytes.size(); ++size)
    BOOST_CHECK_THROW(parse_marian_bin(bytes.substr(0, size), "F"), DataError);
  std::string other = bytes;
  other[16 + 8] = 2;  // a type that depends on the processor
  const std::string message = message_of<DataError>([&] { parse_marian_bin(other, "F"); });
  BOOST_TEST(message.find("has elements of type 16642, which depends on the processor") !=
                 std::string::npos,
             message);
}

BOOST_AUTO_TEST_CASE(binary_shortlists) {
  const std::string bytes = marian_shortlist();
  const MarianShortlist list = parse_marian_shortlist(bytes, "F");
  BOOST_TEST(list.first == 2U);
  BOOST_TEST((list.best == std::vector<std::vector<uint32_t>>{{}, {7, 5}}));
  MarianShortlist odd = list;  // its ids do not fill a word
  odd.best.push_back({3});
  BOOST_TEST((parse_marian_shortlist(bytes_of(odd), "F").best == odd.best));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = char(changed[at] ^ 0x10);
    BOOST_CHECK_THROW(parse_marian_shortlist(changed, "F"), DataError);
  }
}

// A model's weights, and 160 flipped bytes of its file: another value of a weight, or an error.
BOOST_AUTO_TEST_CASE(flipped_bytes_of_a_bin) {
  const std::string firefox = golden + "firefox/", name = "model.ende.intgemm.alphas.bin";
  const std::string bytes = bytes_of(firefox + name);
  const TempFolder folder;
  folder.file("vocab.spm", bytes_of(firefox + "vocab.ende.spm"));
  int refused = 0;
  for (size_t i = 0; i < 160; ++i) {
    std::string changed = bytes;
    const size_t at = i < 100 ? 8 + 13 * i : bytes.size() * (i - 99) / 62;
    changed[at] = char(changed[at] ^ (1 << i % 8));
    folder.file(name, changed);
    try {
      const ForeignModel model = import_model(folder.path());
      BOOST_TEST((model.content.config.decoder_memory == DecoderMemory::ssru));
    } catch (const DataError&) {
      ++refused;
    }
  }
  BOOST_TEST((refused > 80 && refused < 160), refused << " of 160 were refused");
}
