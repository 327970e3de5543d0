#include "lib/attention/stream.h"

#include <algorithm>
#include <exception>

#include "lib/base/error.h"
#include "lib/search/lines.h"
#include "lib/text/corpus.h"

namespace tx {

namespace {

constexpr size_t most_lines = 256;  // translated together
constexpr int linger_ms = 1;        // for the next line of a writer that is about to send it
constexpr int64_t most_warnings = 10;

// One line on its way. A blank one has no source.
struct Item {
  int64_t line = 0;
  Source source;           // pieces without <eos>
  std::vector<int> target;  // pieces predicted, <eos> included where complete
  std::string translation;
};

std::string file_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string names_of(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& file : files) out += (out.empty() ? "" : " + ") + file_name(file);
  return out;
}

std::string count_of(int64_t lines) {
  return std::to_string(lines) + (lines == 1 ? " line" : " lines");
}

int64_t count_to_end(TextReader& reader) {
  std::string line;
  while (reader.next(line)) {
  }
  return reader.line_number();
}

// `longer` has just given its first line beyond the end of `shorter`.
[[noreturn]] void throw_counts_differ(const TextReader& shorter, const std::string& shorter_name,
                                      TextReader& longer, const std::string& longer_name) {
  const int64_t first = longer.line_number();
  throw DataError(shorter_name + " has " + count_of(shorter.line_number()) + ", " + longer_name +
                  " has " + count_of(count_to_end(longer)) + ": line " + std::to_string(first) +
                  " of " + longer_name + " has no counterpart; give files whose lines belong " +
                  "together");
}

// -- reading

class ItemReader {
 public:
  ItemReader(const DumpOptions& options, const Translator& translator, const Log& log)
      : options_(options),
        translator_(translator),
        log_(log),
        files_(options.files.empty() ? std::vector<std::string>{"-"} : options.files),
        in_(files_, options.strict) {
    if (options.target.empty()) return;
    target_ = std::make_unique<TextReader>(std::vector{options.target}, options.strict);
  }

  // Waits for a line, then takes what has arrived. False at the end.
  bool read(std::vector<Item>& items) {
    items.clear();
    try {
      do {
        Item item;
        if (ended_ || !next(item)) break;
        items.push_back(std::move(item));
      } while (items.size() < most_lines && in_.ready(linger_ms));
    } catch (...) {  // the lines before are answered first
      failure_ = std::current_exception();
      ended_ = true;
    }
    if (items.empty() && failure_) std::rethrow_exception(failure_);
    return !items.empty();
  }

  void warn_at_end() const {
    if (cut_ > most_warnings) log_.warn(std::to_string(cut_) + " lines in all were cut");
    for (const TextReader* reader : {&in_, static_cast<const TextReader*>(target_.get())}) {
      if (!reader) continue;
      for (const std::string& warning : reader->warnings()) log_.warn(warning);
    }
  }

 private:
  bool next(Item& item) {
    std::string target;
    const bool more = in_.next(text_), more_target = target_ && target_->next(target);
    if (target_ && more && !more_target) {
      throw_counts_differ(*target_, file_name(options_.target), in_, names_of(files_));
    }
    if (more_target && !more) {
      throw_counts_differ(in_, names_of(files_), *target_, file_name(options_.target));
    }
    ended_ = !more;
    if (!more) return false;
    item.line = item.source.line = in_.line_number();
    const Line line = parse_line(text_, {}, translator_, item.source.ids);
    if (line.cut) warn_cut(in_, line.pieces, translator_.max_source());
    if (target_ && !line.blank) take_target(item, target);
    return true;
  }

  void take_target(Item& item, const std::string& text) {
    const size_t most = size_t(translator_.models().longest()) - 1;
    if (!is_blank(text)) translator_.models().target().encode(text, item.target);
    item.translation = text;
    if (item.target.size() <= most) {
      item.target.push_back(Vocabulary::eos);
    } else {
      warn_cut(*target_, int64_t(item.target.size()), int64_t(most));
      item.target.resize(most);
    }
  }

  void warn_cut(const TextReader& reader, int64_t pieces, int64_t most) {
    if (++cut_ > most_warnings) return;
    log_.warn(reader.place(reader.line_number()) + ": " + std::to_string(pieces) +
              " pieces, cut to the first " + std::to_string(most) + " (--max-source)");
  }

  const DumpOptions& options_;
  const Translator& translator_;
  const Log& log_;
  std::vector<std::string> files_;
  TextReader in_;
  std::unique_ptr<TextReader> target_;
  std::string text_;
  std::exception_ptr failure_;
  bool ended_ = false;
  int64_t cut_ = 0;
};

// -- answering

void translate_items(const Translator& translator, std::vector<Item>& items) {
  std::vector<Source> sources;
  for (const Item& item : items) sources.push_back(item.source);
  const std::vector<Translation> found = translator.translate(sources);
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].source.ids.empty()) continue;
    const Hypothesis& best = found[i].front();
    items[i].target = best.ids;
    if (best.complete) items[i].target.push_back(Vocabulary::eos);
    items[i].translation = translator.models().target().decode(best.ids);
  }
}

// One thread's share.
class ItemAnswerer {
 public:
  ItemAnswerer(const DumpOptions& options, const Selection& selection, const ModelSet& models)
      : options_(options),
        selection_(selection),
        models_(models),
        backend_(make_backend(options.translator.device, 1)),
        extraction_(backend_, *models.transformers().front(), models.dtype(), selection) {}

  std::string answer(const Item& item, int threads) {
    on(backend_, [&](auto& k) {
      if constexpr (requires { k.threads; }) k.threads = threads;
    });
    const AttentionRecord record = record_of(item);
    if (!options_.heatmap) return format_record(record, selection_, options_.digits);
    HeatmapStyle style = terminal_style();
    if (options_.width > 0) style.width = options_.width;
    return (item.line > 1 ? "\n" : "") + draw_heatmap(record, selection_, style);
  }

 private:
  AttentionRecord record_of(const Item& item) {
    AttentionRecord record;
    record.line = item.line;
    record.forced = !options_.target.empty();
    if (item.source.ids.empty()) return record;
    std::vector<int> source = item.source.ids, input = {Vocabulary::bos};
    source.push_back(Vocabulary::eos);
    input.insert(input.end(), item.target.begin(), item.target.end() - 1);
    record.source = models_.source().pieces(source);
    record.input = models_.target().pieces(input);
    record.target = models_.target().pieces(item.target);
    record.translation = item.translation;
    try {
      record.maps = extraction_.run(source, input);
    } catch (const DataError& error) {
      throw DataError("line " + std::to_string(item.line) + ": " + error.what());
    }
    return record;
  }

  const DumpOptions& options_;
  const Selection& selection_;
  const ModelSet& models_;
  Backend backend_;
  Extraction extraction_;
};

// Records can be large, so no more are held than are made at a time.
class Answers {
 public:
  Answers(const DumpOptions& options, const Selection& selection, const ModelSet& models)
      : threads_(options.translator.threads) {
    answerers_.resize(size_t(threads_));
    make_ = [&options, &selection, &models] {
      return std::make_unique<ItemAnswerer>(options, selection, models);
    };
  }

  void write(const std::vector<Item>& items, Writer& out) {
    for (size_t first = 0; first < items.size(); first += size_t(threads_)) {
      const size_t count = std::min(items.size() - first, size_t(threads_));
      std::vector<std::string> texts(count);
      parallel_for(int(count), int64_t(count), [&](int64_t i) {
        auto& own = answerers_[size_t(i)];
        if (!own) own = make_();
        texts[size_t(i)] = own->answer(items[first + size_t(i)], threads_ / int(count));
      });
      for (const std::string& text : texts) out.write(text);
    }
    out.flush();
  }

 private:
  int threads_;
  std::vector<std::unique_ptr<ItemAnswerer>> answerers_;  // made when first needed
  std::function<std::unique_ptr<ItemAnswerer>()> make_;
};

}  // namespace

void DumpOptions::describe(Options& options) {
  options.group("Input");
  options.add("-m,--model", model, "FILE", "the model: a file or a run directory",
              "Of a run directory its best model is taken, else its last.")
      .must();
  options.positional("FILE", files, "text, plain or gzip; standard input when left out");
  options.add("--target", target, "FILE", "translations to look at in place of the model's own",
              "Line n belongs to line n of the text.");
  options
      .add("--max-source", translator.max_source, "N", "pieces of the longest source",
           "What a longer line has beyond is left out; a warning names the line. A record grows "
           "with the square of the length.")
      .range(1, 100000);
  options.flag("--strict", strict, "stop at the first line that is not valid UTF-8",
               "Otherwise such bytes are replaced by U+FFFD and counted.");
  selection.describe(options);
  options.group("Output");
  options.add("--digits", digits, "N", "decimal places of the weights").range(1, 9);
  options.flag("--heatmap", heatmap, "draw one map of each line in the terminal",
               "The first of those selected; without a selection the mean over the heads of the "
               "last layer of cross.");
  options.add("--width", width, "N", "columns of a drawing")
      .range(20, 10000)
      .default_is("the terminal's");
  translator.search.describe_beam(options);
  translator.describe_machine(options);
}

void dump_attention(const DumpOptions& options, Writer& out, const Log& log) {
  TranslatorOptions settings = options.translator;
  settings.models = {options.model};
  const Translator translator(settings);
  const ModelConfig& config = translator.models().transformers().front()->config();
  const Selection selection = options.heatmap ? options.selection.resolve_one(config)
                                              : options.selection.resolve(config);
  ItemReader reader(options, translator, log);
  Answers answers(options, selection, translator.models());
  std::vector<Item> items;
  while (reader.read(items)) {
    if (options.target.empty()) translate_items(translator, items);
    answers.write(items, out);
  }
  reader.warn_at_end();
}

}  // namespace tx
