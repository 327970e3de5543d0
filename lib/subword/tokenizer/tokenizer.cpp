#include "lib/subword/tokenizer/tokenizer.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "lib/base/utf8.h"
#include "lib/subword/tokenizer/added_tokens.h"
#include "lib/subword/tokenizer/decoder.h"
#include "lib/subword/tokenizer/normalizer.h"
#include "lib/subword/tokenizer/splitter.h"
#include "lib/subword/tokenizer/word_model.h"

namespace tx {

namespace {

// The ids of recent words.
class WordCache {
 public:
  // Those of a word, which f(ids) computes if they are not known.
  template <class F>
  const std::vector<int>& get(std::string_view word, F&& f) {
    Entry& entry = entries_[std::hash<std::string_view>()(word) % entries_.size()];
    if (!entry.used || entry.word != word) {
      entry.used = false;
      entry.word.assign(word);
      entry.ids.clear();
      f(entry.ids);
      entry.used = true;
    }
    return entry.ids;
  }

 private:
  struct Entry {
    std::string word;
    std::vector<int> ids;
    bool used = false;
  };
  std::vector<Entry> entries_ = std::vector<Entry>(size_t(1) << 15);
};

// The memory of a thread that encodes.
struct Scratch {
  WordCache cache;
  Splitter::Buffers buffers;
  std::string text;
};

}  // namespace

struct SpecTokenizer::Parts {
  // Has read no description that the parts refuse.
  Parts(TokenizerSpec given, const std::string& where)
      : spec(std::move(given)),
        normalizer(spec.normalizer, where),
        splitter(spec.splitter, where),
        model(make_word_model(spec, splitter.by_bytes(), where)),
        decoder(spec.decoder, where) {
    texts = spec.tokens;
    silent.resize(spec.tokens.size());
    for (const AddedToken& token : spec.added) {
      silent[size_t(token.id)] = token.special;
      std::string text = token.text;
      if (token.normalized) normalizer.apply(text);
      if (token.normalized) texts[size_t(token.id)] = text;
      (token.normalized ? in_normalised : in_text).add(token, std::move(text));
    }
  }

  // Calls f(word, id) for each word, or with the id of an added token.
  template <class F>
  void each_word(std::string_view line, Scratch& scratch, F&& f) const {
    const Splitter::Words words = [&](std::string_view word) { f(word, -1); };
    in_text.each(line, [&](std::string_view part, const AddedToken* token) {
      if (token != nullptr) return f(part, token->id);
      bool at_start = part.data() == line.data();
      std::string_view text = part;
      if (!normalizer.empty()) {
        scratch.text.assign(part);
        at_start &= normalizer.apply(scratch.text);
        text = scratch.text;
      }
      in_normalised.each(text, [&](std::string_view inner, const AddedToken* found) {
        if (found != nullptr) return f(inner, found->id);
        splitter.split(inner, at_start && inner.data() == text.data(), scratch.buffers, words);
      });
    });
  }

  void add_word(std::string_view word, Scratch& scratch, std::vector<int>& ids) const {
    constexpr size_t max_cached = 100;  // bytes
    while (!word.empty()) {
      const std::string_view part = word.substr(0, model->part(word));
      if (part.size() > max_cached) {
        model->add(part, ids);
      } else {
        const auto& known =
            scratch.cache.get(part, [&](std::vector<int>& out) { model->add(part, out); });
        ids.insert(ids.end(), known.begin(), known.end());
      }
      word.remove_prefix(part.size());
    }
  }

  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex);
    if (idle.empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> scratch = std::move(idle.back());
    idle.pop_back();
    return scratch;
  }
  void give(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(scratch));
  }

  TokenizerSpec spec;
  Normalizer normalizer;
  Splitter splitter;
  std::unique_ptr<WordModel> model;
  TokenDecoder decoder;
  AddedTokens in_text, in_normalised;
  std::vector<std::string> texts;  // for the decoder, by id
  std::vector<bool> silent;        // by id
  std::mutex mutex;
  std::vector<std::unique_ptr<Scratch>> idle;
};

SpecTokenizer::SpecTokenizer(TokenizerSpec spec, const std::string& where)
    : parts_(std::make_unique<Parts>(std::move(spec), where)) {}

SpecTokenizer::~SpecTokenizer() = default;

const TokenizerSpec& SpecTokenizer::spec() const { return parts_->spec; }

void SpecTokenizer::encode(std::string_view line, std::vector<int>& ids) const {
  std::unique_ptr<Scratch> scratch = parts_->take();
  parts_->each_word(line, *scratch, [&](std::string_view word, int id) {
    if (id >= 0)
      ids.push_back(id);
    else
      parts_->add_word(word, *scratch, ids);
  });
  parts_->give(std::move(scratch));
}

std::string SpecTokenizer::first_unknown(std::string_view line) const {
  std::unique_ptr<Scratch> scratch = parts_->take();
  std::string unknown;
  std::vector<int> ids;
  parts_->each_word(line, *scratch, [&](std::string_view word, int id) {
    if (id >= 0 || !unknown.empty()) return;
    ids.clear();
    parts_->add_word(word, *scratch, ids);
    if (std::ranges::count(ids, parts_->spec.unk) > 0) unknown = word;
  });
  parts_->give(std::move(scratch));
  return unknown;
}

std::string SpecTokenizer::decode(std::span<const int> ids) const {
  std::vector<std::string> tokens;
  for (const int id : ids)
    if (!parts_->silent[size_t(id)]) tokens.push_back(parts_->texts[size_t(id)]);
  return parts_->decoder.join(std::move(tokens));
}

std::string SpecTokenizer::bytes(int id) const {
  return parts_->silent[size_t(id)] ? "" : parts_->decoder.bytes(parts_->texts[size_t(id)]);
}

}  // namespace tx
