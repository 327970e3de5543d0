// Reads tokenizer.json.
#include <algorithm>
#include <unordered_map>

#include "lib/base/error.h"
#include "lib/subword/tokenizer/spec.h"

namespace tx {

namespace {

using TextToId = std::unordered_map<std::string_view, int>;

TextToId ids_of(const TokenizerSpec& spec) {
  TextToId ids;
  for (size_t id = 0; id < spec.tokens.size(); ++id)
    if (!spec.tokens[id].empty()) ids.emplace(spec.tokens[id], int(id));
  return ids;
}

class JsonReader {
 public:
  JsonReader(const Json& json, const std::string& where) : json_(json), where_(where) {}

  TokenizerSpec read() {
    read_tokens();
    read_added();
    read_model();
    add_steps(part("normalizer"), "normalizers", spec_.normalizer);
    add_steps(part("pre_tokenizer"), "pretokenizers", spec_.splitter);
    add_steps(part("decoder"), "decoders", spec_.decoder);
    add_frame(part("post_processor"));
    return std::move(spec_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { throw DataError(where_ + ": " + why); }

  const Json& part(const char* name) const {
    static const Json none;
    const auto found = json_.find(name);
    return found == json_.end() ? none : *found;
  }

  static bool is_null(const Json& json, const char* key) {
    return !json.contains(key) || json[key].is_null();
  }

  // The parts of a Sequence, or the step itself.
  void add_steps(const Json& step, const char* list, std::vector<Json>& steps) const {
    if (step.is_null()) return;
    if (json_value<std::string>(step, "type", where_) != "Sequence") return steps.push_back(step);
    for (const Json& each : json_value<Json::array_t>(step, list, where_))
      add_steps(each, list, steps);
  }

  // Ids may have gaps, but a small file must not make a large table.
  size_t checked_id(const Json& id, const std::string& token, size_t count) const {
    const size_t max = 4 * count + 100000;
    if (!id.is_number_unsigned() || id.get<uint64_t>() > max)
      refuse("the token " + shown(token) + " has the id " + to_text(id) +
             "; expected a number up to " + std::to_string(max));
    return id.get<size_t>();
  }

  void put(size_t id, const std::string& text) {
    if (spec_.tokens.size() <= id) spec_.tokens.resize(id + 1);
    if (!spec_.tokens[id].empty() && spec_.tokens[id] != text)
      refuse("the tokens " + shown(spec_.tokens[id]) + " and " + shown(text) + " have the same id");
    spec_.tokens[id] = text;
  }

  void read_tokens() {
    model_ = Json::object_t(json_value<Json::object_t>(json_, "model", where_));
    const Json vocabulary = json_value<Json>(model_, "vocab", where_ + ": model");
    if (vocabulary.is_object()) {
      spec_.tokens.reserve(vocabulary.size());
      for (const auto& [text, id] : vocabulary.items())
        if (!text.empty()) put(checked_id(id, text, vocabulary.size()), text);
    } else if (vocabulary.is_array()) {
      for (const Json& entry : vocabulary) {
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() ||
            !entry[1].is_number())
          refuse("an entry of the model's vocab is not a token and a number");
        spec_.tokens.push_back(entry[0].get<std::string>());
        spec_.scores.push_back(entry[1].get<double>());
      }
    } else {
      refuse("vocab of the model is neither an object nor a list");
    }
    model_.erase("vocab");
  }

  void read_added() {
    const TextToId known = ids_of(spec_);
    const auto list = json_value(json_, "added_tokens", where_, Json::array_t());
    for (const Json& json : list) {
      const std::string place = where_ + ": added_tokens";
      AddedToken token;
      token.text = json_value<std::string>(json, "content", place);
      if (token.text.empty()) continue;
      const auto found = known.find(token.text);
      token.in_model = found != known.end();
      token.id = token.in_model ? found->second
                                : int(checked_id(json_value<Json>(json, "id", place), token.text,
                                                 known.size() + list.size()));
      token.single_word = json_value(json, "single_word", place, false);
      token.lstrip = json_value(json, "lstrip", place, false);
      token.rstrip = json_value(json, "rstrip", place, false);
      token.special = json_value(json, "special", place, false);
      token.normalized = json_value(json, "normalized", place, !token.special);
      spec_.added.push_back(token);
    }
    for (const AddedToken& token : spec_.added) put(size_t(token.id), token.text);
  }

  std::string model_type() const {
    if (!is_null(model_, "type")) return json_value<std::string>(model_, "type", where_);
    if (model_.contains("merges")) return "BPE";
    return model_.contains("max_input_chars_per_word") ? "WordPiece" : "Unigram";
  }

  void read_model() {
    const std::string type = model_type(), place = where_ + ": model";
    const bool unigram = type == "Unigram";
    if (type != "BPE" && type != "WordPiece" && !unigram)
      refuse("the model " + shown(type) + " is not supported; BPE, Unigram and WordPiece are");
    if (unigram != !spec_.scores.empty()) refuse("the model " + type + " has no vocab of its kind");
    if (unigram) {
      spec_.model = TokenizerSpec::Model::unigram;
      const auto size = int64_t(spec_.scores.size());
      if (!is_null(model_, "unk_id")) {
        const auto unk = json_value<int64_t>(model_, "unk_id", place);
        if (unk < 0 || unk >= size) refuse("unk_id of the model is not a token");
        spec_.unk = int(unk);
      }
      spec_.byte_fallback = json_value(model_, "byte_fallback", place, false);
      return;
    }
    spec_.model = type == "BPE" ? TokenizerSpec::Model::bpe : TokenizerSpec::Model::wordpiece;
    const bool pieces = type == "WordPiece";
    read_unk(text("unk_token", pieces ? "[UNK]" : ""), place);
    spec_.prefix = text("continuing_subword_prefix", pieces ? "##" : "");
    if (pieces) {
      spec_.max_characters = json_value(model_, "max_input_chars_per_word", place, 100);
      return;
    }
    spec_.suffix = text("end_of_word_suffix", "");
    if (!is_null(model_, "dropout") && model_["dropout"] != 0.0)
      refuse("dropout of the model is not supported; use tx's --bpe-dropout");
    spec_.byte_fallback = flag("byte_fallback");
    spec_.fuse_unk = flag("fuse_unk");
    spec_.ignore_merges = flag("ignore_merges");
    read_merges(place);
  }

  bool flag(const char* key) const {
    return !is_null(model_, key) && json_value<bool>(model_, key, where_ + ": model");
  }
  std::string text(const char* key, const char* otherwise) const {
    return is_null(model_, key) ? otherwise
                                : json_value<std::string>(model_, key, where_ + ": model");
  }

  void read_unk(const std::string& unk, const std::string& place) {
    if (unk.empty()) return;
    const auto found = std::ranges::find(spec_.tokens, unk);
    if (found == spec_.tokens.end())
      throw DataError(place + ": unk_token " + shown(unk) + " is not a token");
    spec_.unk = int(found - spec_.tokens.begin());
  }

  void read_merges(const std::string& place) {
    std::vector<std::pair<std::string, std::string>> merges;
    for (const Json& merge : json_value<Json::array_t>(model_, "merges", place)) {
      if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
        continue;
      }
      const std::string text = merge.is_string() ? merge.get<std::string>() : "";
      const size_t space = text.find(' ');
      if (space == text.npos || text.find(' ', space + 1) != text.npos)
        throw DataError(place + ": the merge " + to_text(merge) + " does not have two tokens");
      if (merges.empty() && text.starts_with("#version")) continue;
      merges.emplace_back(text.substr(0, space), text.substr(space + 1));
    }
    set_merges(spec_, merges, place);
  }

  // What the post-processor puts around a single text.
  void add_frame(const Json& processor) {
    if (processor.is_null()) return;
    const auto type = json_value<std::string>(processor, "type", where_);
    const std::string place = where_ + ": post_processor " + type;
    if (type == "Sequence") {
      for (const Json& each : json_value<Json::array_t>(processor, "processors", place))
        add_frame(each);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      const auto id = [&](const char* key) {
        const auto pair = json_value<Json::array_t>(processor, key, place);
        return token_id(pair.size() == 2 ? pair[1] : Json(), place);
      };
      spec_.before.insert(spec_.before.begin(), id("cls"));
      spec_.after.push_back(id("sep"));
    } else if (type == "TemplateProcessing") {
      add_template(processor, place);
    } else if (type != "ByteLevel") {
      throw DataError(place + " is not supported");
    }
  }

  int token_id(const Json& id, const std::string& place) const {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= spec_.tokens.size())
      throw DataError(place + ": " + to_text(id) + " is not the id of a token");
    return id.get<int>();
  }

  void add_template(const Json& processor, const std::string& place) {
    const Json known(json_value(processor, "special_tokens", place, Json::object_t()));
    std::vector<int> before, after;
    bool seen = false;
    for (const Json& item : json_value<Json::array_t>(processor, "single", place)) {
      if (item.is_object() && item.contains("Sequence")) {
        if (seen) throw DataError(place + ": single has the text twice");
        seen = true;
        continue;
      }
      const Json token(json_value<Json::object_t>(item, "SpecialToken", place));
      const auto name = json_value<std::string>(token, "id", place);
      const Json entry(json_value<Json::object_t>(known, name.c_str(), place));
      for (const Json& id : json_value<Json::array_t>(entry, "ids", place))
        (seen ? after : before).push_back(token_id(id, place));
    }
    if (!seen) throw DataError(place + ": single does not have the text");
    spec_.before.insert(spec_.before.begin(), before.begin(), before.end());
    spec_.after.insert(spec_.after.end(), after.begin(), after.end());
  }

  const Json& json_;
  const std::string& where_;
  Json model_;  // without vocab
  TokenizerSpec spec_;
};

}  // namespace

void set_merges(TokenizerSpec& spec, const std::vector<std::pair<std::string, std::string>>& merges,
                const std::string& where) {
  const TextToId ids = ids_of(spec);
  const auto id_of = [&](const std::string& text) {
    const auto found = ids.find(text);
    if (found == ids.end())
      throw DataError(where + ": " + shown(text) + " of a merge is not a token");
    return found->second;
  };
  spec.merges.clear();
  spec.merges.reserve(merges.size());
  for (const auto& [left, right] : merges) {
    const bool prefixed = !spec.prefix.empty() && right.starts_with(spec.prefix);
    const std::string text = left + right.substr(prefixed ? spec.prefix.size() : 0);
    spec.merges.push_back({id_of(left), id_of(right), id_of(text)});
  }
}

TokenizerSpec read_tokenizer_json(const Json& json, const std::string& where) {
  return JsonReader(json, where).read();
}

}  // namespace tx
