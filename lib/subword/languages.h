// Models of many languages: tokens that name the language of the source and of the output. A source
// begins with the token of its language (in older models it ends with it, behind </s>), and the
// decoder reads that of the output behind <bos>, before the first token that it chooses.
#pragma once
#include <string>
#include <vector>

#include "lib/subword/mapped.h"
#include "lib/subword/vocabularies.h"

namespace tx {

// The names of a vocabulary's languages, as a user gives them, in the order of the model's list:
// "deu_Latn", "de" of the token __de__. Empty: it has none.
std::vector<std::string> language_names(const Vocabulary& vocabulary);
bool has_languages(const Vocabulary& vocabulary);
bool is_language(const Vocabulary& vocabulary, int id);

// The language that the vocabulary of a source, or of outputs, is set to; "": none.
std::string source_language(const Vocabulary& source);
std::string target_language(const Vocabulary& target);

// Sets the vocabulary of a source, or of outputs, to a language, by its name or its token.
// UsageError for one that is not in the list; `where` names the model.
void set_source_language(MappedTokens& source, const std::string& name, const std::string& where);
void set_target_language(MappedTokens& target, const std::string& name, const std::string& where);

// What a user chooses; "" leaves what the model's file states.
struct LanguageChoice {
  std::string source, target;
  bool needed = true;  // false: a model without them is taken, and refused by name later
};

// The vocabularies of a model with these languages. UsageError: the model has none of that name, or
// has no languages at all.
Vocabularies stated_languages(const Vocabularies& all, const LanguageChoice& choice,
                              const std::string& where);
// The same for use: UsageError also where neither the file nor the choice names a language.
Vocabularies with_languages(const Vocabularies& all, const LanguageChoice& choice,
                            const std::string& where);

// For tools that cannot take languages into account: DataError where the model has some.
void refuse_languages(const Vocabularies& all, const std::string& what, const std::string& where);
// For training: UsageError where the file does not state both languages, or sources end with
// theirs.
void check_trainable(const Vocabularies& all, const std::string& where);

// What the decoder reads behind <bos>: a language, or -1.
int first_token(const Vocabulary& target);
// What stands in front of a source's tokens, and what ends it: <eos>, or <eos> and its language.
std::vector<int> opening_tokens(const Vocabulary& source);
std::vector<int> closing_tokens(const Vocabulary& source);

}  // namespace tx
