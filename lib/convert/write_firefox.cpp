// Directories for Marian's own programs and for Bergamot, the engine of Firefox's translators: a
// .bin (formats/marian_file.cpp), SentencePiece models, and the settings of the search.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "lib/base/error.h"
#include "lib/convert/calibrate.h"
#include "lib/convert/families/family.h"
#include "lib/convert/families/tokens.h"
#include "lib/convert/output.h"
#include "lib/search/options.h"
#include "lib/subword/lexical_table.h"
#include "lib/subword/subword.h"

namespace tx {

namespace {

constexpr uint64_t float_type = 0x404, byte_type = 0x101, intgemm8_type = 0x4101;
constexpr uint64_t align = 256;  // of every item

uint64_t padded(uint64_t bytes) { return (bytes + align - 1) / align * align; }

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// The ids of a side in the output: those of its SentencePiece model.
std::vector<int> ids_of(const Vocabulary& vocabulary, const std::string& path) {
  const auto pieces = PieceSplitter(subword_model(vocabulary), path).tokens();
  std::vector<int> ours;
  if (const MappedTokens* content = vocabulary.mapped()) {
    const TokenOrder order = TokenOrder::of(*content, path);
    for (size_t id = 0; id < pieces.size(); ++id) ours.push_back(order.id(int64_t(id)));
  } else {
    for (size_t id = 0; id < pieces.size(); ++id) ours.push_back(int(id));
  }
  if (std::count(ours.begin(), ours.end(), -1) > 0)
    throw DataError(path + " lacks tokens of its SentencePiece model");
  return ours;
}

class FirefoxWriter {
 public:
  FirefoxWriter(OutputDirectory& directory, const ModelReader& model, const ConvertOptions& options)
      : directory_(directory),
        model_(model),
        config_(model.config()),
        int8_(options.to == "firefox"),
        shortlist_(options.shortlist) {
    for (size_t side = 0; side < 2; ++side) {
      const Vocabulary& v = model.vocabularies()[side];
      if (!has_subword_model(v)) refuse("its vocabulary is not a SentencePiece model");
      ids_.push_back(ids_of(v, model.path()));
    }
    if (int8_) check_sizes();
    if (!options.calibration.empty()) factors_ = input_factors(model, options.calibration);
  }

  void write() {
    add_weights();
    std::ranges::sort(items_, {}, &Item::name);
    const std::string name = int8_ ? "model.intgemm8.bin" : "model.bin";
    write_atomically(directory_.file(name), [&](Writer& out) { write_items(out); });
    const Vocabularies& all = model_.vocabularies();
    const bool one = list_same_tokens(all.source(), all.target());
    const std::vector<std::string> names =
        one ? std::vector<std::string>{"vocab.spm", "vocab.spm"}
            : std::vector<std::string>{"srcvocab.spm", "trgvocab.spm"};
    for (size_t side = one ? 1 : 0; side < 2; ++side)
      write_atomically(directory_.file(names[side]), subword_model(all[side]));
    std::string text = "relative-paths: true\nmodels: [" + name + "]\nvocabs: [" + names[0] + ", " +
                       names[1] + "]\nnormalize: 0\n";
    const std::string precision = fixed_ ? "int8shiftAlphaAll" : "int8shift";
    text += int8_ ? "beam-size: 1\ngemm-precision: " + precision +
                        "\nmini-batch-words: 1000\nmax-length-break: 128\n"
                        "ssplit-mode: wrapped_text\nskip-cost: true\n"
                  : "beam-size: 4\n";
    if (!shortlist_.empty()) {
      text += "shortlist: [lex.bin, false]\n";
      write_atomically(directory_.file("lex.bin"), bytes_of(shortlist()));
    }
    write_atomically(directory_.file(int8_ ? "config.yml" : "decoder.yml"), text);
  }

 private:
  // As many tokens as tx-decode allows by default. The frequent ones are the list of </s>, with
  // which every source ends.
  MarianShortlist shortlist() const {
    const Vocabularies& all = model_.vocabularies();
    LexicalTable table = read_lexical_table(shortlist_, all.source(), all.target());
    table.of_source[Vocabulary::eos] = table.frequent;
    table.keep_best(0, size_t(SearchOptions().shortlist_best));
    std::map<int, uint32_t> theirs;
    for (size_t id = 0; id < ids_[1].size(); ++id) theirs[ids_[1][id]] = uint32_t(id);
    MarianShortlist out;
    for (const int source : ids_[0]) {
      std::vector<uint32_t>& list = out.best.emplace_back();
      if (source == Vocabulary::eos) list.push_back(theirs.at(Vocabulary::eos));
      for (const LexicalTable::Entry& e : table.of_source[size_t(source)])
        if (const auto at = theirs.find(e.token); at != theirs.end()) list.push_back(at->second);
    }
    return out;
  }

  struct Item {
    std::string name;
    uint64_t type = float_type;
    std::vector<int64_t> shape;
    uint64_t bytes = 0;
    std::function<std::string()> read;
  };

  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(model_.path() + " cannot be converted to " +
                    (int8_ ? "Firefox's format: " : "Marian: ") + why);
  }

  // intgemm multiplies blocks of 64 inputs and 8 outputs.
  void check_sizes() const {
    for (const auto& [name, size, unit] : {std::tuple{"d_model", size_t(config_.d_model), 64U},
                                           {"d_ff", size_t(config_.d_ff), 64U},
                                           {"target vocabulary", ids_[1].size(), 8U}})
      if (size % unit != 0)
        refuse("its " + std::string(name) + " is " + std::to_string(size) +
               ", which must be a multiple of " + std::to_string(unit));
  }

  void add(const std::string& name, uint64_t type, std::vector<int64_t> shape, uint64_t bytes,
           std::function<std::string()> read) {
    items_.push_back({name, type, std::move(shape), padded(bytes), std::move(read)});
  }
  void add_vector(const std::string& name, std::vector<float> values) {
    const auto size = values.size();
    add(name, float_type, {1, int64_t(size)}, 4 * size, [=] { return bytes_of(values); });
  }

  // The rows of a weight; of one whose rows are tokens, in the order of the output.
  std::vector<float> floats(const ParameterEntry& e, const std::vector<int>* ids) const {
    const WeightRows rows = model_.rows(e);
    const size_t count = ids ? ids->size() : size_t(e.rows), cols = size_t(e.cols);
    std::vector<float> all(count * cols);
    for (size_t i = 0; i < count; ++i)
      rows.read(ids ? (*ids)[i] : int64_t(i), 1, all.data() + i * cols);
    model_.finished(e);
    return all;
  }

  // `turned`: stored as (in, out), as Marian has all matrices but those of tokens.
  void add_matrix(const std::string& name, const ParameterEntry& e, const std::vector<int>* ids) {
    const int64_t rows = ids ? int64_t(ids->size()) : e.rows, cols = e.cols;
    const bool turned = ids == nullptr;
    const std::vector<int64_t> shape = turned ? std::vector{cols, rows} : std::vector{rows, cols};
    const auto count = uint64_t(rows * cols);
    if (!int8_) {
      add(name, float_type, shape, 4 * count, [=, this, &e] {
        const std::vector<float> all = floats(e, ids);
        if (!turned) return bytes_of(all);
        std::vector<float> other(all.size());
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < cols; ++j)
            other[size_t(j * rows + i)] = all[size_t(i * cols + j)];
        return bytes_of(other);
      });
      return;
    }
    add(name, intgemm8_type, shape, count + 4, [=, this, &e] {
      const std::vector<float> all = floats(e, ids);
      float largest = 0;
      for (const float w : all) largest = std::max(largest, std::abs(w));
      const float factor = largest > 0 ? 127 / largest : 1;
      std::string bytes;
      for (const float w : all) bytes += char(int8_t(std::lrint(w * factor)));
      return bytes + bytes_of(std::vector{factor});
    });
  }

  // The multiplier of the inputs of a product. Of the output it has a second name, which Bergamot
  // looks for if there is a shortlist.
  void add_multiplier(std::string matrix, float factor) {
    const std::vector<float> value = {factor};
    if (!matrix.starts_with("encoder_l") && !matrix.starts_with("decoder_l"))
      add_vector("none_QuantMultA", value);
    add_vector(std::move(matrix) + "_QuantMultA", value);
  }

  void add_weights() {
    const bool pre = config_.pre_norm();
    std::string first;  // of joined weights
    for (const ParameterEntry& e : model_.table()) {
      if (!e.joined) first = e.name;
      if (e.name == "embedding.weight")
        add_matrix("Wemb", e, &ids_[1]);
      else if (e.name == "encoder.embedding.weight")
        add_matrix("encoder_Wemb", e, &ids_[0]);
      else if (e.name == "decoder.embedding.weight")
        add_matrix("decoder_Wemb", e, &ids_[1]);
      else if (e.name == "output.weight")
        add_matrix("decoder_ff_logit_out_Wt", e, &ids_[1]);
      else if (e.name == "output.bias")
        continue;
      else if (e.vector)
        add_vector(marian_name(e.name, pre), floats(e, nullptr));
      else
        add_matrix(marian_name(e.name, pre), e, nullptr);
      if (int8_ && e.multiplied) {
        const auto measured = factors_.find(first);
        const float factor =
            measured == factors_.end() ? model_.input_factor(e).input : measured->second;
        fixed_ = fixed_ && factor > 0;
        if (factor > 0) add_multiplier(items_.back().name, factor);
      }
      if (!e.vector && e.name.find("attn.") != std::string::npos && !config_.attention_bias) {
        const std::string bias = e.name.substr(0, e.name.size() - 6) + "bias";
        add_vector(marian_name(bias, pre), std::vector<float>(size_t(e.rows)));
      }
    }
    add_output_bias();
    const std::string text = settings() + std::string(1, '\0');
    add("special:model.yml", byte_type, {int64_t(text.size())}, text.size(), [=] { return text; });
  }

  // pad and bos, which Marian's vocabularies lack, are never output.
  void add_output_bias() {
    std::vector<float> all(size_t(config_.target().vocabulary));
    for (const ParameterEntry& e : model_.table())
      if (e.name == "output.bias") all = floats(e, nullptr);
    all[Vocabulary::pad] = all[Vocabulary::bos] = never;
    std::vector<float> theirs;
    for (const int id : ids_[1]) theirs.push_back(all[size_t(id)]);
    add_vector("decoder_ff_logit_out_b", theirs);
  }

  std::string settings() const {
    const auto flag = [](bool on) { return on ? "true" : "false"; };
    const auto number = [](int64_t n) { return std::to_string(n); };
    const char* const activation = config_.activation == Activation::silu   ? "swish"
                                   : config_.activation == Activation::relu ? "relu"
                                                                            : "gelu";
    const std::vector<std::pair<std::string, std::string>> keys = {
        {"dec-cell", "ssru"},
        {"dec-cell-base-depth", "2"},
        {"dec-cell-high-depth", "1"},
        {"dec-depth", number(config_.sides[1].layers)},
        {"dim-emb", number(config_.d_model)},
        {"dim-rnn", "1024"},
        {"dim-vocabs",
         "[" + number(int64_t(ids_[0].size())) + ", " + number(int64_t(ids_[1].size())) + "]"},
        {"enc-cell", "gru"},
        {"enc-cell-depth", "1"},
        {"enc-depth", number(config_.sides[0].layers)},
        {"enc-type", "bidirectional"},
        {"factors-combine", "sum"},
        {"factors-dim-emb", "0"},
        {"input-types", "[]"},
        {"layer-normalization", "false"},
        {"lemma-dim-emb", "0"},
        {"output-omit-bias", "false"},
        {"right-left", "false"},
        {"skip", "false"},
        {"tied-embeddings", flag(config_.tie == Tie::target)},
        {"tied-embeddings-all", flag(config_.tie == Tie::all)},
        {"tied-embeddings-src", flag(config_.tie == Tie::embeddings)},
        {"transformer-aan-activation", "swish"},
        {"transformer-aan-depth", "2"},
        {"transformer-aan-nogate", "false"},
        {"transformer-decoder-autoreg", config_.recurrent(1) ? "rnn" : "self-attention"},
        {"transformer-decoder-dim-ffn", "0"},
        {"transformer-decoder-ffn-depth", "0"},
        {"transformer-depth-scaling", "false"},
        {"transformer-dim-aan", "2048"},
        {"transformer-dim-ffn", number(config_.d_ff)},
        {"transformer-ffn-activation", activation},
        {"transformer-ffn-depth", "2"},
        {"transformer-guided-alignment-layer", "last"},
        {"transformer-heads", number(config_.heads)},
        {"transformer-no-affine", "false"},
        {"transformer-no-bias", "false"},
        {"transformer-no-projection", "false"},
        {"transformer-pool", "false"},
        {"transformer-postprocess", config_.pre_norm() ? "da" : "dan"},
        {"transformer-postprocess-emb", "d"},
        {"transformer-postprocess-top", config_.pre_norm() ? "n" : "\"\""},
        {"transformer-preprocess", config_.pre_norm() ? "n" : "\"\""},
        {"transformer-rnn-projection", "false"},
        {"transformer-tied-layers", "[]"},
        {"transformer-train-position-embeddings", "false"},
        {"type", "transformer"},
        {"ulr", "false"},
        {"ulr-dim-emb", "0"},
        {"ulr-trainable-transformation", "false"},
        {"version", "v1.12.1 tx"}};
    std::string text;
    for (const auto& [key, value] : keys) text += key + ": " + value + "\n";
    return text;
  }

  void write_items(Writer& out) const {
    std::string head = little_endian_bytes(1, 8) + little_endian_bytes(items_.size(), 8), names,
                shapes;
    for (const Item& item : items_) {
      for (const uint64_t n :
           {uint64_t(item.name.size() + 1), item.type, uint64_t(item.shape.size()), item.bytes})
        head += little_endian_bytes(n, 8);
      names += item.name + std::string(1, '\0');
      for (const int64_t d : item.shape) shapes += little_endian_bytes(uint64_t(d), 4);
    }
    head += names + shapes;
    const uint64_t gap = padded(head.size() + 8) - head.size() - 8;
    out.write(head + little_endian_bytes(gap, 8) + std::string(gap, '\0'));
    for (const Item& item : items_) {
      std::string data = item.read();
      data.resize(item.bytes, '\0');
      out.write(data);
    }
  }

  OutputDirectory& directory_;
  const ModelReader& model_;
  const ModelConfig& config_;
  bool int8_;
  std::string shortlist_;                 // a file, or ""
  std::map<std::string, float> factors_;  // of inputs; empty: those of the model, or none
  bool fixed_ = true;                     // each product has one
  std::vector<std::vector<int>> ids_;     // of each side: ours, for each of theirs
  std::vector<Item> items_;
};

void check_marian_can_compute(const ModelReader& model, const std::string& program) {
  const ModelConfig& c = model.config();
  const auto refuse = [&](const std::string& why) {
    throw DataError(model.path() + " cannot be converted to " + program + ": " + why);
  };
  if (!c.recurrent(c.sides.size() - 1))
    refuse(
        "its decoder begins with <s>, but Marian's with zeros; train with --decoder-memory ssru");
  if (c.not_exported()) refuse(std::string("it was trained with ") + c.not_exported());
  if (c.norm_type != NormType::layer) refuse("it uses RMSNorm (--norm-type rms)");
  if (c.activation != Activation::relu && c.activation != Activation::silu &&
      c.activation != Activation::gelu)
    refuse("its activation is " + c.activation.name);
  if (c.kv_heads != c.heads || c.window)
    refuse("it uses grouped-query or sliding-window attention (--kv-heads, --window)");
  if (c.d_v != c.d_k || c.heads * c.d_k != c.d_model)
    refuse("d_k or d_v differs from d_model / heads (--d-k, --d-v)");
  if (!c.feed_forward_bias) refuse("its feed-forward layers have no biases");
  if (!c.source_eos || !c.scaled_embeddings) refuse("its sources lack </s>, or embeddings a scale");
  if (c.positions != PositionEncoding::fairseq || c.position_offset)
    refuse("its positions are " + c.positions.name + "; train with --positions fairseq");
}

}  // namespace

void write_firefox(OutputDirectory& directory, const ModelReader& model,
                   const ConvertOptions& options) {
  check_marian_can_compute(model, options.to == "firefox" ? "Firefox's format" : "Marian");
  FirefoxWriter(directory, model, options).write();
}

}  // namespace tx
