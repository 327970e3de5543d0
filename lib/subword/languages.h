// Multilingual models: tokens that name the languages of the source and of the output. A source
// begins with the token of its language (in older models it ends with it, after </s>), and the
// decoder reads the language of the output after <bos>, before the first token that it predicts.
#pragma once
#include <string>
#include <vector>

#include "lib/subword/mapped.h"

namespace tx {

// The names of a vocabulary's languages for users, in order: "deu_Latn", or "de" for __de__.
std::vector<std::string> language_names(const Vocabulary& vocabulary);
bool has_languages(const Vocabulary& vocabulary);
bool is_language(const Vocabulary& vocabulary, int id);

// The language that is set in the vocabulary of the source, or of the output; "" if none is.
std::string source_language(const Vocabulary& source);
std::string target_language(const Vocabulary& target);

// Sets the language of the source, or of the output, by its name or its token. UsageError if it is
// not in the list; `where` names the model.
void set_source_language(MappedTokens& source, const std::string& name, const std::string& where);
void set_target_language(MappedTokens& target, const std::string& name, const std::string& where);

// The user's choice; "" keeps the language that the model file sets.
struct LanguageChoice {
  std::string source, target;
  bool needed = true;  // false: with_languages() accepts a model without set languages
};

// The vocabularies of a model with these languages. UsageError if it does not have them.
Vocabularies stated_languages(const Vocabularies& all, const LanguageChoice& choice,
                              const std::string& where);
// The same, but UsageError also if neither the file nor the choice sets a language.
Vocabularies with_languages(const Vocabularies& all, const LanguageChoice& choice,
                            const std::string& where);

// With a new language that starts as the language or tag `from`, a token of the vocabulary: its
// token `tag` takes the place of a language `from` that is set. As with_tokens() where text
// contains tags.
Vocabularies::Pointer with_language(const Vocabularies::Pointer& vocabulary, const std::string& tag,
                                    const std::string& from);

// Whether the model has languages, or another token before its outputs.
bool sets_language(const Vocabularies& all);
// For tools that do not support this: DataError.
void refuse_languages(const Vocabularies& all, const std::string& what, const std::string& where);
// For training: UsageError if the file does not set both languages, or if sources end with theirs.
void check_trainable(const Vocabularies& all, const std::string& where);

// The token, usually a language, that the decoder reads after <bos>, or -1.
int first_token(const Vocabulary& target);
// The tokens before those of a source, and after them: <eos>, or <eos> and its language.
std::vector<int> opening_tokens(const Vocabulary& source);
std::vector<int> closing_tokens(const Vocabulary& source);
// Those that an encoder of another toolkit reads after a text; tx's own read none.
std::vector<int> encoder_closing(const Vocabulary& vocabulary);

// The bytes of the tags at the beginning of a line, with the white space after them: >>fra<<, <2fr>
// or __fr__, if the vocabulary has such a token.
size_t skip_tags(const Vocabulary& vocabulary, std::string_view line);

// What happens to the result of Vocabulary::first_unknown(), or the tags that the model has.
std::string describe_unknown(const std::string& text, const Vocabulary& vocabulary);

}  // namespace tx
