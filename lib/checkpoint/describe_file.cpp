#include <map>

#include "lib/base/figure.h"
#include "lib/base/utf8.h"
#include "lib/checkpoint/model_file.h"
#include "lib/checkpoint/transfer.h"
#include "lib/subword/languages.h"

namespace tx {

namespace {

struct Form {
  int64_t weights = 0, values = 0, bytes = 0;
};

std::string form_of(const TensorInfo& tensor) {
  if (tensor.dtype == "U8") return "int8";
  return tensor.dtype == "F32" ? "fp32" : tensor.dtype == "BF16" ? "bf16" : tensor.dtype;
}

std::string use_of(const ParameterEntry& e) {
  if (e.vector) return "vector";
  const bool looked_up = e.lookup || e.init == ParameterEntry::Init::embedding;
  if (!e.multiplied) return "look-up";
  return looked_up ? "look-up, product" : "product";
}

std::string line_of(const char* format, const std::string& name, const std::string& shape,
                    const std::string& form, const std::string& use, int64_t bytes) {
  return formatted(format, name.c_str(), shape.c_str(), form.c_str(), use.c_str(),
                   static_cast<long long>(bytes));
}

// One line per language; "source" and "target" mark the defaults in the file.
std::string languages_of(const ModelReader& model) {
  const Vocabularies& all = model.vocabularies();
  if (!has_languages(all.source())) return "";
  const std::string source = source_language(all.source()), target = target_language(all.target());
  std::string text = "languages\n";
  for (const std::string& name : language_names(all.source())) {
    text += "  " + printable(name);
    if (name == source) text += "  source";
    if (name == target) text += "  target";
    text += "\n";
  }
  return text;
}

// Name, languages and licence of a converted package.
std::string package_of(const ModelReader& model) {
  std::string text;
  const Json package = model.provenance().value("package", Json::object());
  for (const auto& [name, value] : package.items())
    text += (text.empty() ? "package\n  " : "  ") + name + ": " +
            printable(value.is_string() ? value.get<std::string>() : to_text(value)) + "\n";
  return text;
}

// Defaults of options, and the tokens that end an output.
std::string settings_of(const ModelReader& model) {
  std::string text;
  const Json defaults = defaults_of(model.provenance());
  for (const auto& [name, value] : defaults.items())
    text += (text.empty() ? "defaults\n  --" : "  --") + name + " " + to_text(value) + "\n";
  const std::vector<int> ends = ending_tokens(model.vocabularies().target());
  if (!ends.empty()) text += "tokens that end an output\n";
  for (const int id : ends) text += "  " + model.vocabularies().target().token(id) + "\n";
  return text;
}

}  // namespace

std::string describe_file(const ModelReader& model) {
  std::string text = "weights\n";
  std::map<std::string, Form> forms;
  int64_t quantised = 0, products = 0;
  for (const ParameterEntry& e : model.table()) {
    const TensorInfo& tensor = *model.file().find(e.name);
    const std::string form = form_of(tensor);
    const bool int8 = form == "int8";
    const int64_t bytes = tensor.bytes() + (int8 ? model.file().find(scale_name(e))->bytes() : 0);
    const std::string cols = std::to_string(e.cols);
    text +=
        line_of("  %-45s %12s  %-4s  %-16s %11lld\n", e.name,
                e.vector ? cols : std::to_string(e.rows) + " x " + cols, form, use_of(e), bytes);
    Form& sum = forms[form];
    sum.weights += 1, sum.values += e.rows * e.cols, sum.bytes += bytes;
    products += e.multiplied, quantised += e.multiplied && int8;
  }
  text += "forms\n";
  const auto plain = [](int64_t n, const char* what) {  // a table for scripts: no commas
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  for (const auto& [name, form] : forms)
    text += line_of("  %-16s %14s  %-14s %s %18lld\n", name, plain(form.weights, "weight"),
                    plain(form.values, "value"), "bytes", form.bytes);
  return text + package_of(model) + languages_of(model) + settings_of(model) +
         "products with 8-bit weights\n  " + std::to_string(quantised) + " of " +
         std::to_string(products) + "\n";
}

}  // namespace tx
