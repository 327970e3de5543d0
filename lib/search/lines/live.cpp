#include "lib/base/error.h"
#include "lib/search/engine/continuation.h"
#include "lib/search/lines/source_reader.h"
#include "lib/search/lines/stream.h"

namespace tx {

namespace {

// Writes a text that grows, the new part each time.
class Growing {
 public:
  explicit Growing(Writer& out) : out_(out) {}
  void show(const std::string& text) {
    if (!text.starts_with(shown_)) return;  // what was written stays
    out_.write(text.substr(shown_.size()));
    out_.flush();
    shown_ = text;
  }

 private:
  Writer& out_;
  std::string shown_;
};

}  // namespace

void continue_live(LinePairs& in, const Translator& translator, const LineOptions& options,
                   Writer& out, const Log& log) {
  SourceReader reader(in, translator, options, log);
  const Vocabulary& vocabulary = translator.models().target();
  const auto worker = translator.worker();
  const int threads = translator.threads_each(1);
  Line line;
  for (Source source; reader.next(line, source);) {
    Growing text(out);
    const std::string echoed = options.echo ? vocabulary.decode(source.ids) : "";
    if (!source.blank()) {
      text.show(echoed);
      worker->listen([&](std::span<const int> ids) {
        text.show(echoed + settled(continuation_text(vocabulary, source.ids, ids), options.stops));
      });
      const Source* const one[] = {&source};
      const Translation found = worker->translate(one, threads).front();
      text.show(echoed + before_stop(continuation_text(vocabulary, source.ids, found.front().ids),
                                     options.stops));
    }
    out.write("\n");
    out.flush();
  }
  reader.warn_at_end();
}

}  // namespace tx
