#include "lib/convert/families/settings.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/convert/families/family.h"
#include "lib/convert/formats/directory.h"

namespace tx {

namespace {

// Keys of generation_config.json and the options of tx-decode that they are, with the range.
const Json imported = parse_json(R"({
"num_beams": ["beam", 1, 1000], "length_penalty": ["alpha", 0, 10],
"no_repeat_ngram_size": ["no-repeat", 0, 1000], "max_new_tokens": ["max-new", 1, 100000],
"num_beam_groups": ["groups", 1, 1000], "diversity_penalty": ["diversity", 0, 100],
"do_sample": ["sample", 0, 1], "temperature": ["temperature", 0.01, 100],
"top_k": ["top-k", 0, 1073741824], "top_p": ["top-p", 0.001, 1], "min_p": ["min-p", 0, 1],
"stop_strings": ["stop", 0, 0]})",
                                 "");

// Keys that tx does not support, with the value that has no effect.
const Json without_option = parse_json(R"({
"repetition_penalty": 1, "encoder_repetition_penalty": 1, "encoder_no_repeat_ngram_size": 0,
"early_stopping": false, "typical_p": 1, "exponential_decay_length_penalty": null,
"epsilon_cutoff": 0, "eta_cutoff": 0, "top_h": null, "guidance_scale": 1, "penalty_alpha": 0,
"dola_layers": null, "token_healing": false, "watermarking_config": null, "max_length": null,
"max_time": null, "num_return_sequences": 1, "forced_decoder_ids": null})",
                                       "");

constexpr std::string_view token_keys =
    "eos_token_id forced_eos_token_id forced_bos_token_id bad_words_ids suppress_tokens "
    "begin_suppress_tokens sequence_bias force_words_ids constraints renormalize_logits";

// Keys that cannot change outputs, or that other code reads.
constexpr std::string_view neutral =
    "bos_token_id pad_token_id decoder_start_token_id transformers_version _from_model_config "
    "_commit_hash min_length min_new_tokens use_cache cache_implementation cache_config "
    "max_cache_len return_legacy_cache return_dict_in_generate output_attentions "
    "output_hidden_states output_scores output_logits remove_invalid_values low_memory "
    "compile_config disable_compile prefill_chunk_size is_assistant num_assistant_tokens "
    "num_assistant_tokens_schedule assistant_confidence_threshold assistant_early_exit "
    "assistant_lookbehind assistant_ensemble_weight target_lookbehind prompt_lookup_num_tokens "
    "max_matching_ngram_size continuous_batching_config speculation_type use_mtp";

// The same for tokenizer_config.json.
const Json of_tokenizer = parse_json(R"({
"do_lower_case": false, "clean_up_tokenization_spaces": false, "sp_model_kwargs": {},
"split_special_tokens": false})",
                                     "");

constexpr std::string_view neutral_of_tokenizer =
    "add_bos_token add_eos_token add_prefix_space legacy legacy_behaviour language_codes "
    "tokenizer_class src_lang tgt_lang source_lang target_lang langs separate_vocabs "
    "added_tokens_decoder additional_special_tokens extra_special_tokens bos_token eos_token "
    "unk_token pad_token sep_token cls_token mask_token model_specific_special_tokens "
    "model_max_length max_len max_length truncation truncation_side truncation_strategy padding "
    "padding_side stride pad_to_multiple_of pad_token_type_id pad_token_id return_tensors "
    "return_token_type_ids model_input_names name_or_path special_tokens_map_file tokenizer_file "
    "vocab_file spm_file num_madeup_words use_default_system_prompt chat_template use_fast "
    "spaces_between_special_tokens backend is_local local_files_only from_slow auto_map "
    "processor_class vocab_size bos_token_id eos_token_id unk_token_id transformers_version";

bool is_in(std::string_view words, std::string_view key) {
  const size_t at = (" " + std::string(words) + " ").find(" " + std::string(key) + " ");
  return at != std::string::npos;
}

bool is_known(const std::string& key) {
  return imported.contains(key) || without_option.contains(key) || is_in(neutral, key) ||
         is_in(token_keys, key);
}

// A number, a list or a text of a message.
std::string value_text(const Json& value) {
  const std::string text = to_text(value);
  return text.size() > 60 ? text.substr(0, 60) + "..." : text;
}

}  // namespace

ModelSettings::ModelSettings(const std::string& directory, Json config, int64_t start, Text text)
    : directory_(directory),
      where_(directory + "/generation_config.json"),
      config_(std::move(config)),
      generation_(Json::object()),
      start_(start) {
  if (file_exists(where_)) {
    generation_ = read_object(where_);
    if (!generation_.value("decoder_start_token_id", Json()).is_null())
      config_["decoder_start_token_id"] = generation_["decoder_start_token_id"];
  } else {
    where_ = is_directory(directory) ? directory + "/config.json" : directory;
    for (const auto& [key, value] : config_.items())
      if (is_known(key)) generation_[key] = value;
  }
  if (start_ < 0) start_ = generation_.value("forced_bos_token_id", Json()).is_null() ? 1 : 2;
  read_generation();
  if (text == Text::raw) read_tokenizer();
}

void ModelSettings::refuse(const std::string& key, const std::string& why) const {
  throw DataError(where_ + ": " + key + " " + why);
}

void ModelSettings::unsupported(std::string& list, const std::string& key,
                                const Json& value) const {
  if (list.size() > 2000) return;
  list += (list.empty() ? "" : ", ") + key + (value.is_null() ? "" : " " + value_text(value));
}

void ModelSettings::warn_of(const std::string& list, const std::string& where, const char* what) {
  if (!list.empty()) warnings_.push_back(where + " has settings " + what + ": " + list);
}

std::vector<int64_t> ModelSettings::ids(const std::string& key, const Json& value) const {
  std::vector<int64_t> out;
  for (const Json& id : value.is_array() ? value : Json::array({value})) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= uint64_t(1) << 40)
      refuse(key, "is " + value_text(value) + ", not an id or a list of ids");
    out.push_back(id.get<int64_t>());
  }
  if (out.empty() && key != "suppress_tokens") refuse(key, "is an empty list");
  return out;
}

void ModelSettings::read_generation() {
  // The tokens that end an output; the first of them also ends sources.
  const Json own = config_.value("eos_token_id", Json());
  if (!own.is_null()) ends_ = ids("eos_token_id", own);
  for (const auto& [key, value] : generation_.items()) {
    const auto option = without_option.find(key);
    if (value.is_null() || is_in(neutral, key)) continue;
    if (imported.contains(key))
      read_option(key, value);
    else if (option == without_option.end())
      is_known(key) ? read_tokens(key, value) : unsupported(unknown_, key, nullptr);
    else if (value != *option && value != "never")  // of early_stopping: as tx searches
      unsupported(unsupported_, key, value);
  }
  if (!ends_.empty()) config_["eos_token_id"] = ends_.front();
  for (const int64_t id : bad_)  // which never forbid an end
    if (std::ranges::count(ends_, id) == 0) forbidden_.push_back(id);
  read_lengths();
  if (!defaults_.contains("diversity")) defaults_.erase("groups");
  warn_of(unsupported_, where_, "that tx does not have, so that outputs can differ");
  warn_of(unknown_, where_, "that are not known and ignored");
}

void ModelSettings::read_tokens(const std::string& key, const Json& value) {
  const std::string advice = "; to convert the model without it, remove it from the file";
  if (key == "eos_token_id") {
    std::vector<int64_t> all = ids(key, value);
    const auto own = ends_.empty() ? all.end() : std::ranges::find(all, ends_.front());
    if (own == all.end() && start_ > 0 && !ends_.empty())
      refuse(key, "is " + value_text(value) + ", without the token that ends sources, " +
                      std::to_string(ends_.front()) + " in config.json");
    if (own != all.end()) std::rotate(all.begin(), own, own + 1);
    ends_ = all;
  } else if (key == "bad_words_ids") {
    for (const Json& word : value.is_array() ? value : Json::array({value})) {
      if (!word.is_array() || word.size() != 1)
        refuse(key, "must be lists of one id each; tx-decode --forbid forbids phrases" + advice);
      bad_.push_back(ids(key, word).front());
    }
  } else if (key == "suppress_tokens") {
    for (const int64_t id : ids(key, value)) forbidden_.push_back(id);
  } else if (key == "forced_bos_token_id" && start_ == 2) {
    forced_bos_ = ids(key, value).front();
  } else if (key == "forced_eos_token_id") {  // only at the maximum length
    if (ids(key, value) != std::vector<int64_t>(1, ends_.empty() ? -1 : ends_.front()))
      unsupported(unsupported_, key, value);
  } else if (key != "renormalize_logits" && value != Json::array()) {
    refuse(key, "is " + value_text(value) + ", which is not supported" + advice);
  }
}

void ModelSettings::read_option(const std::string& key, const Json& value) {
  const std::string option = imported[key][0];
  if ((option == "stop" || option == "max-new") && start_ > 0)
    return unsupported(unsupported_, key, value);
  if (option == "stop") {
    defaults_[option] = value.is_array() ? value : Json::array({value});
    for (const Json& text : defaults_[option])
      if (!text.is_string() || text == "") refuse(key, "must be strings");
    return;
  }
  const bool whole = imported[key][2].is_number_integer() && imported[key][2] > 100;
  if (option == "sample" ? !value.is_boolean()
                         : !(whole ? value.is_number_integer() : value.is_number()))
    refuse(key, "is " + value_text(value) + ", a value of the wrong type");
  if (value.is_number() && (value < imported[key][1] || value > imported[key][2]))
    return unsupported(unsupported_, key, value);
  defaults_[option] = value;
  if (option == "alpha" && value != 0)
    warnings_.push_back(where_ + ": length_penalty " + value_text(value) + " becomes --alpha " +
                        value_text(value) +
                        ", which divides by ((5 + length) / 6)^X instead of length^X");
}

// transformers counts the tokens that the decoder reads first, in a language model the prompt.
void ModelSettings::read_lengths() {
  int64_t least = 0;
  for (const auto& [key, before] :
       {std::pair{"min_length", start_}, {"min_new_tokens", start_ - 1}}) {
    const Json value = generation_.value(key, Json());
    if (value.is_null() || value == 0) continue;
    const int64_t length = ids(key, value).front();
    if (start_ == 0 && std::string(key) == "min_length")
      unsupported(unsupported_, key, value);
    else
      least = std::max(least, length - std::max<int64_t>(before, 0));
  }
  if (least > 100000) refuse("min_length", "is too large");
  if (least > 0) defaults_["min-length"] = least;
}

void ModelSettings::read_tokenizer() {
  const std::string path = directory_ + "/tokenizer_config.json";
  tokenizer_ = object_or_empty(path);
  std::string other, unknown;
  for (const auto& [key, value] : tokenizer_.items()) {
    if (value.is_null() || is_in(neutral_of_tokenizer, key)) continue;
    if (!of_tokenizer.contains(key))
      unsupported(unknown, key, nullptr);
    else if (value != of_tokenizer[key])
      unsupported(other, key, value);
  }
  warn_of(other, path, "that tx does not have, so that tokens or text can differ");
  warn_of(unknown, path, "that are not known and ignored");
  special_ = object_or_empty(directory_ + "/special_tokens_map.json");
}

void ModelSettings::check_token(const char* key, const std::string& token) const {
  const Json& file = tokenizer_.contains(key) ? tokenizer_ : special_;
  const std::string own = token_text(file.value(key, Json()));
  if (!own.empty() && own != token)
    throw DataError(directory_ + "/tokenizer_config.json: " + key + " is " + shown(own) +
                    ", but the model's ids say " + shown(token));
}

void ModelSettings::set_tokens(MappedTokens& content, const TokenOrder& order) const {
  const auto add = [&](std::vector<int>& list, const char* key, int64_t theirs) {
    const int id = order.id(theirs);
    if (id < 0) refuse(key, "has the id " + std::to_string(theirs) + ", which is no token");
    if (id >= Vocabulary::unk && std::ranges::count(list, id) == 0) list.push_back(id);
  };
  for (const int64_t id : forbidden_)
    add(content.forbidden, "bad_words_ids or suppress_tokens", id);
  for (size_t i = 1; i < ends_.size(); ++i) add(content.ends, "eos_token_id", ends_[i]);
}

void ModelSettings::refuse_tokens(const std::vector<int64_t>& known) const {
  for (const int64_t id : forbidden_)
    if (std::ranges::count(known, id) == 0)
      refuse("bad_words_ids or suppress_tokens", "are not supported for models of this family");
  if (ends_.size() > 1)
    refuse("eos_token_id", "lists several tokens, which is not supported for this family");
}

WeightRows ModelSettings::masked(WeightRows theirs) const {
  if (generation_.value("renormalize_logits", Json()) != true) return theirs;
  return {1, theirs.cols, [theirs, ids = forbidden_](int64_t first, int64_t rows, float* to) {
            theirs.read(first, rows, to);
            for (const int64_t id : ids)
              if (rows > 0 && id < theirs.cols) to[id] = never;
          }};
}

}  // namespace tx
