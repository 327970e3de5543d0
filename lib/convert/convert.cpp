#include "lib/convert/convert.h"

#include "lib/base/error.h"
#include "lib/base/io.h"
#include "lib/base/utf8.h"
#include "lib/checkpoint/model_file.h"
#include "lib/convert/families/family.h"
#include "lib/convert/output.h"

namespace tx {

namespace {

// A directory that is not a run directory of tx-train, or a file of another toolkit.
bool is_foreign(const std::string& path) {
  return path.ends_with(".argosmodel") || is_gguf(path) ||
         (is_directory(path) && !file_exists(path + "/best.safetensors") &&
          !file_exists(path + "/last.safetensors") && !file_exists(path + "/log.jsonl"));
}

// Writes NAME.shortlist for NAME.safetensors.
void write_shortlist(const ConvertOptions& options, const ForeignModel& model, const Log& log) {
  if (options.out == "-") return log.warn("its shortlist is not written, since --out is -");
  const std::string ending = ".safetensors";
  std::string path = options.out;
  if (path.ends_with(ending)) path.resize(path.size() - ending.size());
  path += ".shortlist";
  check_replaceable(path);
  const Vocabularies& vocabularies = model.content.vocabularies;
  write_atomically(path, [&](Writer& out) {
    write_lexical_table(*model.shortlist, vocabularies.source(), vocabularies.target(), out);
  });
  log.info("wrote " + path + ", for --shortlist of tx-decode");
}

void convert_in(const ConvertOptions& options, const Log& log) {
  const bool named = !options.names.table.empty();
  if (!named && !is_foreign(options.input)) {
    if (options.input.ends_with(".pt") || options.input.ends_with(".pth"))
      throw UsageError(options.input +
                       " is a checkpoint of PyTorch: give --names and --vocab, or " +
                       "a directory that also has its settings and vocabulary");
    const ModelReader model(options.input);  // throws if it is not a tx model
    throw UsageError(options.input + " is a tx model: give --to to choose the format to write");
  }
  check_replaceable(options.out);
  ForeignModel model =
      named ? import_by_names(options.input, options.names) : import_model(options.input);
  for (const std::string& warning : model.warnings) log.warn(warning);
  Vocabularies& vocabularies = model.content.vocabularies;
  vocabularies = stated_languages(vocabularies, options.languages, options.input);
  if (model.shortlist) write_shortlist(options, model, log);
  const Json package = model.content.provenance.value("package", Json::object());
  const Json licence = package.value("license", Json());
  write_model(options.out, std::move(model.content));
  log.info("wrote " + options.out + ", converted from " + model.what +
           (licence.is_string() ? "; its licence: " + printable(licence.get<std::string>()) : ""));
}

void convert_out(const ConvertOptions& options, const Log& log) {
  if (is_foreign(options.input) && file_exists(options.input + "/config.json"))
    throw UsageError(options.input + " is not a tx model: convert it to one first, without --to");
  const ModelReader model(options.input);
  OutputDirectory directory(options.out);
  std::string program = "CTranslate2";
  try {
    if (options.to == "firefox") {
      program = "Bergamot, the engine of Firefox";
      write_firefox(directory, model, options);
    } else if (options.to == "marian" && model.config().decoder_memory == DecoderMemory::ssru) {
      program = "Marian";
      write_firefox(directory, model, options);
    } else if (options.to == "marian") {
      program = "MarianMT of Hugging Face";
      write_marian(directory, model, options.max_positions, log);
    } else if (options.to == "llama") {
      program = "Llama of Hugging Face";
      write_llama(directory, model, options.max_positions);
    } else {
      write_ctranslate2(directory, model, options.max_positions);
    }
  } catch (const IoError& e) {
    throw Error(directory.named(e.what()));
  }
  directory.finish();
  log.info("wrote " + options.out + ", a directory for " + program);
}

}  // namespace

void ConvertOptions::describe(Options& options) {
  options.usage("tx-convert [OPTION]... -o FILE DIRECTORY");
  options.usage("tx-convert --names TABLE --vocab FILE [OPTION]... -o FILE CHECKPOINT");
  options.usage("tx-convert --to ctranslate2|firefox|marian|llama [OPTION]... -o DIRECTORY MODEL");
  options.group("Input");
  options
      .positional("MODEL", input,
                  "directory, .argosmodel or .gguf of another toolkit; with --to, a model of tx",
                  "A model of tx is a file or a run directory, which stands for its best model, or "
                  "its last if there is no best.")
      .must()
      .input();
  options
      .add("--names", names.table, "TABLE",
           "names of the tensors of a PyTorch model, see tx-names(5)",
           "A file, or torch.nn.Transformer or pytorch-seq2seq.")
      .needs({{"--to", "tx"}});
  options.add("--vocab", names.vocabulary, "FILE", "its vocabulary: one token per line, or .json")
      .input()
      .needs({{"--names"}});
  options
      .add("--target-vocab", names.target_vocabulary, "FILE",
           "the vocabulary of the target, if it is another")
      .input()
      .needs({{"--names"}});
  options.add("--heads", names.heads, "N", "its attention heads")
      .range(1, 65535)
      .default_is("those of the table")
      .needs({{"--names"}});
  options.group("Output");
  options.add("-o,--out", out, "PATH", "model file to write; with --to, directory to create")
      .must()
      .output();
  options
      .add("--to", to, "tx|ctranslate2|firefox|marian|llama",
           "format to write; marian and llama are Hugging Face's",
           "With marian, a model with a recurrent decoder becomes one of Marian's own.")
      .one_of({"tx", "ctranslate2", "firefox", "marian", "llama"});
  options
      .add("--max-positions", max_positions, "N", "number of positions to write",
           "It limits the length of sentences in the other program. Learned positions are written "
           "unchanged.")
      .range(2, 1 << 20)
      .needs({{"--to", "ctranslate2"}, {"--to", "marian"}, {"--to", "llama"}});
  options
      .add("--calibrate", calibration, "FILE",
           "measure the ranges of activations on a text in the source language",
           "A thousand lines are enough. Without it, the engine finds the range of each batch, so "
           "that "
           "a translation depends on the other lines of its batch.")
      .input()
      .needs({{"--to", "firefox"}});
  options.add("--shortlist", shortlist, "FILE", "lexical shortlist to write, see tx-shortlist(5)")
      .input()
      .needs({{"--to", "firefox"}});
  options
      .add("--source-language", languages.source, "NAME",
           "default source language (multilingual models), such as eng_Latn",
           "tx-decode --describe lists the names.")
      .needs({{"--to", "tx"}});
  options
      .add("--target-language", languages.target, "NAME",
           "default target language (multilingual models)")
      .needs({{"--to", "tx"}});
  options.flag("-q,--quiet", quiet, "do not report what was written");
}

void ConvertOptions::resolve() const {
  if (to != "tx" && out == "-")
    throw UsageError("--out -: a directory cannot be written to standard output");
  if (!names.table.empty() && names.vocabulary.empty())
    throw UsageError("--names needs the vocabulary: give --vocab");
}

void convert_model(const ConvertOptions& options, const Log& log) {
  options.to == "tx" ? convert_in(options, log) : convert_out(options, log);
}

}  // namespace tx
