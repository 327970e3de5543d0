#include "lib/search/lines/stream.h"

#include <fcntl.h>

#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "lib/base/error.h"
#include "lib/base/figure.h"
#include "lib/base/outputs.h"
#include "lib/search/engine/continuation.h"
#include "lib/search/engine/translation_queue.h"
#include "lib/search/lines/remarks.h"
#include "lib/search/lines/source_reader.h"

namespace tx {
namespace {

using Clock = std::chrono::steady_clock;

// Shared by all requests to format their lines; used by several threads.
struct Formatter {
  const Translator& translator;
  const LineOptions& options;
  const StreamOutput& out;

  std::mutex lock;  // of `remarks` and out.progress
  Remarks remarks;
};

class LineRequest : public TranslationRequest {
 public:
  LineRequest(Formatter& f, const Line& line) : f_(f), line_(line) {}

  // `parts` has several elements if the line was split. Columns are computed for the last one.
  std::vector<size_t> finish(std::span<Source> parts, std::vector<Translation>& found) override {
    if (f_.options.glossary) {
      const std::vector<size_t> again = correct(parts, found);
      if (!again.empty()) return again;
    }
    const std::chrono::duration<double, std::milli> spent = Clock::now() - read_;
    const Source& source = parts.back();
    Translation translation = join_parts(found, f_.translator.options().search.alpha);
    const ModelSet& models = f_.translator.models();
    std::span<const int> prompt;
    if (f_.translator.continues()) prompt = source.ids;
    if (parts.size() > 1) translation.front().text = join_texts(parts, found, models.target());
    if (f_.out.rank)
      f_.out.rank(translation);
    else if (!f_.translator.options().search.sample && !f_.translator.encodes())
      drop_repeated_texts(translation, models.target(), prompt, f_.options.stops);
    if (f_.options.markup)
      for (TokenHypothesis& h : translation) put_back(parts, found, h);
    std::vector<std::string> columns;
    if (f_.out.column)
      for (const TokenHypothesis& h : translation) columns.push_back(f_.out.column(source, h));
    const TokenHypothesis& best = translation.front();
    const auto states = states_of(line_, source, best, models, f_.translator.rules());
    if (f_.out.vectors)
      vector = best.vector;
    else if (f_.translator.encodes())
      text = format_encoded(best, models.target());
    else
      text = (f_.options.json
                  ? format_json(line_, translation, states, f_.options, models.target(), columns,
                                prompt)
                  : format_line(line_, translation, f_.options, models.target(), columns, prompt));
    status = format_status(line_, translation, states, spent.count());
    log_p = best.log_p;
    labels = line_.blank ? 0 : int64_t(best.ids.size()) + best.complete;
    const std::lock_guard guard(f_.lock);
    f_.remarks.add(line_.number, states);
    if (f_.out.progress) f_.out.progress->add();
    return {};
  }

  std::string text, status;
  std::vector<float> vector;
  double log_p = 0;
  int64_t labels = 0;  // number of tokens that log_p sums, including the end
  bool dropped() const { return line_.dropped; }

 private:
  // The tokens of an output, and what they are aligned to.
  std::vector<Markup::Token> aligned_tokens(const Source& source, const TokenHypothesis& h) const {
    const std::span<const int> ids = h.ids;
    const std::vector<int64_t> sources = f_.out.align(source, h);
    std::vector<Markup::Token> tokens;
    for (size_t i = 0, begin = 0; i < ids.size(); ++i) {
      const std::string text = f_.translator.models().target().decode(ids.first(i + 1));
      const size_t end = std::max(begin, text.size());
      tokens.push_back({begin, end, sources[i]});
      begin = end;
    }
    return tokens;
  }

  // Changes the parts whose outputs lack a term. A part is translated again at most twice as often
  // as it has terms.
  std::vector<size_t> correct(std::span<Source> parts, const std::vector<Translation>& found) {
    std::vector<size_t> again;
    attempts_.resize(parts.size());
    kept_.resize(parts.size());
    for (size_t i = 0; i < parts.size() && !line_.blank; ++i) {
      const std::vector<Terminology::Term>& terms = line_.terms[i];
      const TokenHypothesis& best = found[i].front();
      const std::string output = f_.translator.models().target().decode(best.ids);
      if (std::ranges::all_of(terms, [&](const auto& term) { return contains(output, term); }))
        continue;
      std::string next;
      if (attempts_[i]++ < 2 * terms.size())
        next = corrected_prefix(output, terms, aligned_tokens(parts[i], best), kept_[i]);
      if (next.empty()) {
        line_.lacks_terms = true;
        continue;
      }
      Source& source = parts[i];
      source.rest.clear();
      source.rest_tokens = 0;
      parse_prefix(next, f_.options, f_.translator, source);
      source.ends_word = true;
      kept_[i] = next.size();
      again.push_back(i);
    }
    return again;
  }

  // `found` are the translations of the parts, of which `h` is made.
  void put_back(std::span<const Source> parts, const std::vector<Translation>& found,
                TokenHypothesis& h) const {
    const Vocabulary& vocabulary = f_.translator.models().target();
    const std::string text = h.text.empty() ? vocabulary.decode(h.ids) : h.text;
    std::vector<Markup::Token> tokens;
    if (f_.options.markup->needs_alignment(line_.marked, text)) {
      int64_t before = 0;
      for (size_t i = 0; i < parts.size(); ++i) {
        const TokenHypothesis& part = parts.size() > 1 ? found[i].front() : h;
        size_t begin = 0;  // of its text
        if (i > 0)
          begin = join_texts(parts.first(i + 1), found, vocabulary).size() -
                  vocabulary.decode(part.ids).size();
        for (const Markup::Token& token : aligned_tokens(parts[i], part))
          tokens.push_back({token.begin + begin, token.end + begin, token.source + before});
        before += int64_t(parts[i].ids.size());
      }
    }
    h.text = f_.options.markup->put_back(line_.marked, text, tokens);
  }

  Formatter& f_;
  Line line_;
  Clock::time_point read_ = Clock::now();
  // With a glossary, of each part: how often it was translated again, and the forced bytes.
  std::vector<size_t> attempts_, kept_;
};

// Puts lines into the queue, on its own thread. After an input error the lines before are written.
class ReaderThread {
 public:
  ReaderThread(TranslationQueue& queue, Formatter& f, LinePairs& in, const Log& log)
      : queue_(queue), f_(f), in_(in, f.translator, f.options, log) {
    thread_ = start_thread(failed_, [this] {
      failed_.run([this] { read(); });
      failed_.run([this] { in_.warn_at_end(); });
      queue_.close();
    });
  }
  ~ReaderThread() {
    queue_.stop();
    thread_.join();
  }
  void rethrow() { failed_.rethrow(); }  // once the queue is empty

 private:
  void read() {
    constexpr int idle_ms = 200;  // how often to check whether the queue was stopped
    Line line;
    std::vector<Source> parts;
    for (;;) {
      while (!in_.ready(idle_ms))
        if (queue_.stopped()) return;
      if (!in_.next(line, parts)) return;
      if (!queue_.put(std::make_unique<LineRequest>(f_, line), std::move(parts))) return;
    }
  }

  TranslationQueue& queue_;
  Formatter& f_;
  SourceReader in_;
  FirstError failed_;
  std::thread thread_;
};

// Writes a growing text: show() appends what is new.
class Growing {
 public:
  explicit Growing(Writer& out) : out_(out) {}
  void show(const std::string& text) {
    if (!text.starts_with(shown_)) return;  // written text cannot be changed
    out_.write(text.substr(shown_.size()));
    out_.flush();
    shown_ = text;
  }

 private:
  Writer& out_;
  std::string shown_;
};

}  // namespace

void translate_stream(LinePairs& in, const Translator& translator, const LineOptions& options,
                      const StreamOutput& out, const Log& log) {
  Formatter f{translator, options, out, {}, {}};
  TranslationQueue queue(translator, options.latency_ms);
  ReaderThread reader(queue, f, in, log);
  const auto flush = [&] {
    out.lines.flush();
    if (out.status) out.status->flush();
  };
  if (out.status) out.status->write(status_header());
  while (const auto request = queue.take(flush)) {
    const auto& line = static_cast<const LineRequest&>(*request);
    out.lines.write(line.text);
    if (out.vectors) out.vectors->add(line.vector);
    if (out.status) out.status->write(line.status);
    if (!out.scored) continue;
    if (!std::isfinite(line.log_p) || line.dropped()) {
      ++(std::isfinite(line.log_p) ? out.scored->dropped : out.scored->impossible);
      continue;
    }
    out.scored->log_p += line.log_p;
    out.scored->labels += line.labels;
  }
  flush();
  reader.rethrow();
  // Not for language models: their outputs are usually cut and have no source to copy.
  if (!translator.options().search.forced_target && !translator.continues()) f.remarks.report(log);
}

void continue_live(LinePairs& in, const Translator& translator, const LineOptions& options,
                   Writer& out, const Log& log) {
  SourceReader reader(in, translator, options, log);
  const Vocabulary& vocabulary = translator.models().target();
  const auto worker = translator.worker();
  const int threads = translator.threads_each(1);
  Line line;
  for (Source source; reader.next(line, source);) {
    Growing text(out);
    if (!source.blank()) {
      const auto show = [&](const std::string& more) {
        text.show(one_line((options.echo ? line.prompt : "") + more));
      };
      const auto continuation = [&](std::span<const int> ids, size_t repeats) {
        return continuation_text(vocabulary, source.ids, ids, repeats);
      };
      show("");
      const auto listener = [&](std::span<const int> ids, size_t repeats) {
        show(settled(continuation(ids, repeats), options.stops));
      };
      const Source* const one[] = {&source};
      const TokenHypothesis best = worker->translate(one, threads, listener).front().front();
      show(before_stop(continuation(best.ids, best.repeats), options.stops));
    }
    out.write("\n");
    out.flush();
  }
  reader.warn_at_end();
}

std::string describe_scored(const ScoredText& scored) {
  std::string left_out;
  for (const auto& [lines, why] :
       {std::pair(scored.impossible, " with a translation of blank text"),
        std::pair(scored.dropped, " with an empty translation or a side that was cut")})
    if (lines > 0) left_out += "; left out " + counted(lines, "line") + why;
  if (scored.labels == 0) return "no text was scored" + left_out;
  const double tokens = double(scored.labels);
  return "log P " + figure(scored.log_p, 1) + " over " + counted(scored.labels, "token") +
         ", ends counted: perplexity " + figure(std::exp(-scored.log_p / tokens), 3) + left_out;
}

std::unique_ptr<Writer> open_status(const std::string& place) {
  if (place.empty()) return nullptr;
  const bool number = is_descriptor(place);
  const int fd = number ? std::stoi(place) : -1;
  if (place == "-" || fd == 1)
    throw UsageError("--status " + place +
                     ": standard output is for the translations; name a file, or use 2 or 3");
  if (!number) return std::make_unique<Writer>(place);
  if (::fcntl(fd, F_GETFD) < 0)
    throw UsageError("--status " + place + ": descriptor " + place + " is not open; add " + place +
                     ">FILE to the command, or give ./" + place + " for a file of that name");
  return std::make_unique<Writer>(fd, "descriptor " + place);
}

}  // namespace tx
