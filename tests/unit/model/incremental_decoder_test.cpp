// IncrementalDecoder with cached keys and values against the whole model.
#include "lib/model/incremental_decoder.h"

#include <algorithm>

#include "tests/unit/model/small_model.h"

using namespace tx_test;
using tx::DType;
using tx::IncrementalDecoder;

namespace {

constexpr int vocabulary = 37;

Rows download(SmallModel& small, const tx::Matrix& logits) {
  const std::vector<double> all = to_host(small.backend, logits);
  Rows rows;
  for (auto row = all.begin(); row != all.end(); row += logits.cols)
    rows.emplace_back(row, row + vocabulary);
  return rows;
}

// Hypotheses that grow as in a beam: at each step up to `width` rows per sentence continue rows of
// the step before. Keeps the tokens that every row has read.
struct Beam {
  std::vector<IncrementalDecoder::Row> rows;
  std::vector<std::vector<int32_t>> read;

  void start(size_t sentences) {
    for (size_t s = 0; s < sentences; ++s) {
      rows.push_back({int32_t(s), -1, 2});
      read.push_back({2});
    }
  }
  void grow(int step, int width) {
    const std::vector<double> draws = value("beam " + std::to_string(step), 0, 200);
    auto draw = [&, next = size_t(0)](int n) mutable {
      return std::min(n - 1, int((draws[next++] + 1) / 2 * n));
    };
    std::vector<IncrementalDecoder::Row> next;
    std::vector<std::vector<int32_t>> next_read;
    for (size_t first = 0, last = 0; first < rows.size(); first = last) {
      while (last < rows.size() && rows[last].sentence == rows[first].sentence) ++last;
      const int count = 1 + draw(width);  // a beam may lose hypotheses
      for (int i = 0; i < count; ++i) {
        const int32_t parent = int32_t(first) + draw(int(last - first)), token = 4 + draw(33);
        next.push_back({rows[first].sentence, parent, token});
        next_read.push_back(read[size_t(parent)]);
        next_read.back().push_back(token);
      }
    }
    rows = next;
    read = next_read;
  }
};

// The last logits of the whole model for the tokens that each row of the beam has read.
Rows uncached(SmallModel& small, const std::vector<std::vector<int>>& sources, const Beam& beam) {
  std::vector<Sentence> sentences;
  for (size_t r = 0; r < beam.rows.size(); ++r) {
    const std::vector<int>& source = sources[size_t(beam.rows[r].sentence)];
    sentences.push_back({0, {source.begin(), source.end()}, beam.read[r], beam.read[r]});
  }
  const Rows all = small.logits(sentences);
  Rows last;
  for (size_t end = beam.read[0].size(); end <= all.size(); end += beam.read[0].size())
    last.push_back(all[end - 1]);
  return last;
}

constexpr tx::ModelKind kinds[] = {tx::ModelKind::encoder_decoder, tx::ModelKind::decoder};

// Sources of these lengths; those of a decoder-only model are empty.
std::vector<std::vector<int>> sources_of(std::initializer_list<size_t> lengths,
                                         tx::ModelKind kind = kinds[0]) {
  std::vector<std::vector<int>> sources;
  if (kind == tx::ModelKind::decoder) {
    sources.resize(lengths.size());
    return sources;
  }
  for (size_t length : lengths) {
    const Sentence s = sentence_of(uint32_t(length), length, 1);
    sources.emplace_back(s.source.begin(), s.source.end());
  }
  return sources;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_decoding)

void check_cached(const tx::ModelConfig& config, DType dtype, int steps = 24) {
  const double bound = dtype == DType::f64 ? 1e-13 : dtype == DType::f32 ? 1e-5 : 2e-2;
  SmallModel small(config, dtype, true);
  const auto sources = sources_of({7, 1, 70, 20}, config.kind);
  IncrementalDecoder decoding(small.backend, *small.model, dtype);
  decoding.begin(sources, 16, steps);
  const int apart = tx::replays(small.backend) ? 5 : 1;  // a GPU may be an emulated one
  Beam beam;
  beam.start(4);
  for (int step = 0; step < steps; ++step) {
    if (step) beam.grow(step, 4);
    const Rows logits = download(small, decoding.step(beam.rows));
    if (step % apart > 0 && step + 1 < steps) continue;
    BOOST_TEST_CONTEXT(int(dtype) << " " << tx::to_text(config.to_json()) << " step " << step)
    BOOST_TEST(difference(logits, uncached(small, sources, beam)) < bound);
  }
}

// Prompts of any length are read in one pass; the logits after them are those of the whole text.
void check_prompts(const tx::ModelConfig& config, DType dtype) {
  const double bound = dtype == DType::f64 ? 1e-13 : dtype == DType::f32 ? 1e-5 : 2e-2;
  SmallModel small(config, dtype, true);
  std::vector<std::vector<int>> prompts;
  for (const uint32_t length : {7, 0, 1, 33}) {
    prompts.emplace_back();
    if (length == 0) continue;
    const Sentence s = sentence_of(length, length, 1);
    prompts.back().assign(s.source.begin(), s.source.end());
  }
  IncrementalDecoder decoding(small.backend, *small.model, dtype);
  decoding.begin(prompts, 16, 9);
  Beam beam;
  beam.start(4);
  std::vector<Rows> together;
  for (int step = 0; step < 9; ++step) {
    if (step) beam.grow(step, 4);
    const Rows logits = download(small, decoding.step(beam.rows));
    for (size_t r = 0; r < beam.rows.size(); ++r) {
      const std::vector<int>& prompt = prompts[size_t(beam.rows[r].sentence)];
      std::vector<int32_t> whole(prompt.begin(), prompt.end());
      whole.insert(whole.end(), beam.read[r].begin(), beam.read[r].end());
      const Rows all = small.logits({{0, {}, whole, whole}});
      BOOST_TEST_CONTEXT(int(dtype) << " step " << step << " row " << r)
      BOOST_TEST(difference({logits[r]}, {all.back()}) < bound);
      if (step > 0) continue;
      IncrementalDecoder alone(small.backend, *small.model, dtype);
      alone.begin({prompt}, 1, 9);
      const IncrementalDecoder::Row row{0, -1, 2};
      BOOST_TEST((download(small, alone.step({&row, 1}))[0] == logits[r]));
    }
  }
}

BOOST_AUTO_TEST_CASE(prompts_enter_in_one_pass) {
  for (DType dtype : dtypes())
    for (const char* positions : {"sinusoid", "learned"})
      check_prompts(small_config("pre", positions, tx::ModelKind::decoder), dtype);
}

// Rows without a parent in one step, in several and one by one have the same bits as rows that name
// their parents, and so do the rows that continue them. On a GPU they enter one by one.
void check_beginnings(const tx::ModelConfig& config, DType dtype) {
  SmallModel small(config, dtype, true);
  const auto sources = sources_of({7, 20}, config.kind);
  constexpr int length = 9;
  const auto logits_of = [&](int at_a_time, bool with_parents = false) {
    IncrementalDecoder decoding(small.backend, *small.model, dtype);
    decoding.begin(sources, 2 * length, length + 3);
    Rows all[2];
    int32_t ends[2] = {};
    const auto step = [&](const std::vector<IncrementalDecoder::Row>& rows) {
      const Rows logits = download(small, decoding.step(rows));
      for (size_t r = 0; r < rows.size(); ++r) {
        all[rows[r].sentence].push_back(logits[r]);
        ends[rows[r].sentence] = int32_t(r);
      }
    };
    for (int first = 0; first < length; first += at_a_time) {
      std::vector<IncrementalDecoder::Row> rows;
      for (int s = 0; s < 2; ++s)
        for (int i = first; i < std::min(length, first + at_a_time); ++i)
          rows.push_back({s, with_parents && i > 0 ? ends[s] : -1, 4 + 3 * i + s});
      step(rows);
    }
    step({{0, ends[0], 5}, {0, ends[0], 6}, {1, ends[1], 7}});
    step({{0, 1, 8}, {0, 0, 9}, {0, 1, 10}, {1, 2, 11}, {1, 2, 12}});
    return std::pair(all[0], all[1]);
  };
  const auto wanted = logits_of(1, true);
  const auto sizes = tx::replays(small.backend) ? std::vector{1} : std::vector{1, 2, 4, length};
  for (const int at_a_time : sizes)
    BOOST_TEST_CONTEXT(int(dtype) << ", " << at_a_time << " at a time")
  BOOST_TEST((logits_of(at_a_time) == wanted));
}

BOOST_AUTO_TEST_CASE(beginnings_enter_in_one_step) {
  for (DType dtype : dtypes())
    for (tx::ModelKind kind : kinds) {
      check_beginnings(small_config("post", "sinusoid", kind), dtype);
      for (const tx::ModelConfig& config : later_configs(kind)) check_beginnings(config, dtype);
    }
}

// A prompt that does not fit is only admitted after another one is released.
BOOST_AUTO_TEST_CASE(prompts_wait_for_free_rows) {
  SmallModel small(small_config("post", "sinusoid", tx::ModelKind::decoder), DType::f32, true);
  IncrementalDecoder decoding(small.backend, *small.model, DType::f32);
  decoding.open({.source_rows = 10, .rows = 2, .cache_rows = 20, .steps = 12});
  const std::vector<int64_t> steps{2};
  BOOST_TEST(!decoding.admit({std::vector<int>(11, 5)}, std::vector<int64_t>{1}, 1));
  BOOST_TEST(decoding.admit({std::vector<int>(10, 5)}, steps, 1));
  BOOST_TEST(!decoding.admit({std::vector<int>(9, 5)}, steps, 1));
  decoding.release(0);
  BOOST_TEST(decoding.admit({std::vector<int>(9, 5)}, steps, 2));
}

BOOST_AUTO_TEST_CASE(cached_equals_uncached) {
  for (DType dtype : dtypes())
    for (const char* norm : {"post", "pre"})
      for (const char* positions : {"sinusoid", "learned"})
        for (tx::ModelKind kind : kinds) check_cached(small_config(norm, positions, kind), dtype);
}

BOOST_AUTO_TEST_CASE(cached_equals_uncached_with_later_blocks) {
  for (DType dtype : dtypes())
    for (tx::ModelKind kind : kinds)
      for (const tx::ModelConfig& config : later_configs(kind)) check_cached(config, dtype, 12);
}

void check_independence(const tx::ModelConfig& config, DType dtype) {
  SmallModel small(config, dtype, true), threads(config, dtype, true, 3);
  const auto sources = sources_of({7, 1, 70, 20}, config.kind);
  IncrementalDecoder decoding(small.backend, *small.model, dtype);
  decoding.begin(sources_of({3, 3}, config.kind), 2, 5);
  const IncrementalDecoder::Row two[] = {{0, -1, 2}, {1, -1, 2}};
  decoding.step(two);
  decoding.begin(sources, 4, 8);
  std::vector<Rows> together;
  for (int step = 0; step < 8; ++step) {
    std::vector<IncrementalDecoder::Row> rows;
    for (int s = 0; s < 4; ++s) rows.push_back({s, step ? s : -1, step ? 4 + s + step : 2});
    together.push_back(download(small, decoding.step(rows)));
  }
  for (int s = 0; s < 4; ++s) {
    IncrementalDecoder alone(threads.backend, *threads.model, dtype);
    alone.begin({sources[size_t(s)]}, 1, 8);
    for (int step = 0; step < 8; ++step) {
      const IncrementalDecoder::Row row{0, step ? 0 : -1, step ? 4 + s + step : 2};
      const Rows logits = download(threads, alone.step({&row, 1}));
      BOOST_TEST((logits[0] == together[size_t(step)][size_t(s)]));
    }
  }
}

// The bits of a row depend neither on other rows, nor on earlier use of the object, nor on threads.
BOOST_AUTO_TEST_CASE(rows_are_independent_of_the_batch) {
  for (DType dtype : dtypes())
    for (tx::ModelKind kind : kinds)
      check_independence(small_config("post", "sinusoid", kind), dtype);
  for (DType dtype : dtypes())
    for (const tx::ModelConfig& config : later_configs()) check_independence(config, dtype);
}

// If groups of heads share keys and values, the cache is smaller.
BOOST_AUTO_TEST_CASE(the_cache_shrinks_with_the_heads_of_keys) {
  const auto bytes_of_rows = [](int kv_heads) {
    tx::ModelConfig c = small_config();
    c.kv_heads = kv_heads;
    SmallModel small(c, DType::f32, true);
    IncrementalDecoder decoding(small.backend, *small.model, DType::f32);
    IncrementalDecoder::Capacity room{.source_rows = 40, .rows = 8, .cache_rows = 100, .steps = 10};
    const size_t before = decoding.bytes(room);
    room.cache_rows += 1000;
    return int64_t(decoding.bytes(room) - before);
  };
  BOOST_TEST(bytes_of_rows(4) == 1000 * 2 * 4 * (8 + 12) * 4);
  BOOST_TEST(bytes_of_rows(2) == bytes_of_rows(4) / 2);
  BOOST_TEST(bytes_of_rows(1) == bytes_of_rows(4) / 4);
}

// Sentences are admitted and released, two at a time: each has the same bits as alone, whatever
// released sentences have left in the cache.
BOOST_AUTO_TEST_CASE(sentences_come_and_go) {
  for (DType dtype : dtypes()) {
    SmallModel small(small_config(), dtype, true);
    const auto sources = sources_of({7, 1, 70, 20, 7, 33});
    const std::vector<int64_t> steps{3, 9, 5, 1, 8, 6};
    std::vector<Rows> expected;
    for (size_t s = 0; s < sources.size(); ++s) {
      IncrementalDecoder alone(small.backend, *small.model, dtype);
      alone.begin({sources[s]}, 1, steps[s]);
      for (int step = 0; step < steps[s]; ++step) {
        const IncrementalDecoder::Row row{0, step ? 0 : -1, step ? 4 + int(s) + step : 2};
        if (step == 0) expected.emplace_back();
        expected[s].push_back(download(small, alone.step({&row, 1}))[0]);
      }
    }
    IncrementalDecoder decoding(small.backend, *small.model, dtype);
    decoding.open({.source_rows = 110, .rows = 2, .cache_rows = 15, .steps = 9});
    std::vector<size_t> here;  // sentences, their ages and rows
    std::vector<int> age(sources.size(), 0), row_of(sources.size(), -1);
    size_t next = 0, done = 0;
    while (done < sources.size()) {
      while (here.size() < 2 && next < sources.size() &&
             decoding.admit({sources[next]}, std::vector{steps[next]}, 1))
        here.push_back(next++);
      BOOST_REQUIRE(!here.empty());
      std::vector<IncrementalDecoder::Row> rows;
      for (const size_t s : here)
        rows.push_back({int32_t(s), row_of[s], age[s] ? 4 + int(s) + age[s] : 2});
      const Rows logits = download(small, decoding.step(rows));
      std::vector<size_t> stay;
      for (size_t r = 0; r < here.size(); ++r) {
        const size_t s = here[r];
        BOOST_TEST((logits[r] == expected[s][size_t(age[s])]), "sentence " << s);
        row_of[s] = int(r);
        if (++age[s] < steps[s]) {
          stay.push_back(s);
        } else {
          decoding.release(int32_t(s));
          ++done;
        }
      }
      here = stay;
    }
    BOOST_CHECK_THROW(decoding.release(0), tx::Bug);
    BOOST_TEST(!decoding.admit({sources[2], sources[2]}, std::vector<int64_t>{1, 1}, 1));
    BOOST_TEST(!decoding.admit({sources[1], sources[1]}, std::vector<int64_t>{9, 9}, 1));
    BOOST_TEST(decoding.admit({sources[1], sources[3]}, std::vector<int64_t>{9, 6}, 1));
  }
}

// Every field of Capacity adds to the planned bytes; a cache row adds a row in every layer.
BOOST_AUTO_TEST_CASE(the_plan_counts_every_part) {
  SmallModel small(small_config(), DType::f32, true);
  IncrementalDecoder decoding(small.backend, *small.model, DType::f32);
  const IncrementalDecoder::Capacity room{
      .source_rows = 40, .rows = 8, .cache_rows = 100, .steps = 10};
  const auto with = [&](int64_t IncrementalDecoder::Capacity::*part, int64_t more) {
    IncrementalDecoder::Capacity larger = room;
    larger.*part += more;
    return decoding.bytes(larger);
  };
  const tx::ModelConfig& c = small.model->config();
  const int64_t width = c.heads * (c.d_k + c.d_v), before = int64_t(decoding.bytes(room));
  BOOST_TEST(int64_t(with(&IncrementalDecoder::Capacity::cache_rows, 7)) - before ==
             7 * width * c.sides.back().layers * 4);
  BOOST_TEST(int64_t(with(&IncrementalDecoder::Capacity::steps, 5)) - before == 2 * 8 * 5 * 4);
  // Keys and values of all layers, six integers per row, and activations.
  BOOST_TEST(int64_t(with(&IncrementalDecoder::Capacity::source_rows, 40)) - before >
             40 * (small.model->cross_width() * 4 + 6 * 4));
  // At least the logits.
  BOOST_TEST(int64_t(with(&IncrementalDecoder::Capacity::rows, 800)) - before >
             800 * vocabulary * 4);
  decoding.open(room);
  BOOST_TEST(int64_t(decoding.bytes(room)) == before);
}

BOOST_AUTO_TEST_CASE(misuse_is_a_bug) {
  SmallModel small(small_config(), DType::f32, true);
  IncrementalDecoder decoding(small.backend, *small.model, DType::f32);
  const IncrementalDecoder::Row rows[] = {{0, -1, 2}, {0, -1, 2}};
  BOOST_CHECK_THROW(decoding.step(rows), tx::Bug);
  BOOST_CHECK_THROW(decoding.begin({{}}, 1, 1), tx::Bug);
  BOOST_CHECK_THROW(decoding.begin(sources_of({81}), 1, 1), tx::Bug);
  BOOST_CHECK_THROW(decoding.begin(sources_of({5}), 1, 81), tx::Bug);
  decoding.begin(sources_of({5}), 1, 2);
  BOOST_CHECK_THROW(decoding.step(rows), tx::Bug);
  BOOST_CHECK_THROW(decoding.step({}), tx::Bug);
  const IncrementalDecoder::Row stranger{1, -1, 2}, orphan{0, 1, 2};
  BOOST_CHECK_THROW(decoding.step({&stranger, 1}), tx::Bug);
  decoding.step({rows, 1});
  BOOST_CHECK_THROW(decoding.step({&orphan, 1}), tx::Bug);
  const IncrementalDecoder::Row child{0, 0, 5};
  decoding.step({&child, 1});
  BOOST_CHECK_THROW(decoding.step({&child, 1}), tx::Bug);
}

// Without prompts, a decoder-only model needs cache rows only; prompts need source rows too.
BOOST_AUTO_TEST_CASE(a_decoder_only_model_reserves_only_its_rows) {
  SmallModel small(small_config("post", "sinusoid", tx::ModelKind::decoder), DType::f32, true);
  IncrementalDecoder decoding(small.backend, *small.model, DType::f32);
  const IncrementalDecoder::Sources none(1), source{{5, 3}};
  const std::vector<int64_t> steps{3};
  decoding.open({.source_rows = 0, .rows = 1, .cache_rows = 3, .steps = 3});
  BOOST_TEST(!decoding.admit(source, {steps.data(), 1}, 1));
  BOOST_TEST(decoding.admit(none, steps, 1));
  BOOST_TEST(!decoding.admit(none, steps, 1));
  const IncrementalDecoder::Row first{0, -1, 2}, second{1, -1, 2};
  const Rows before = download(small, decoding.step({&first, 1}));
  decoding.release(0);
  BOOST_TEST(decoding.admit(none, steps, 1));
  BOOST_TEST((download(small, decoding.step({&second, 1})) == before));
}

BOOST_AUTO_TEST_CASE(an_encoder_alone_does_not_decode) {
  SmallModel small(small_config("post", "sinusoid", tx::ModelKind::encoder), DType::f32, true);
  BOOST_CHECK_THROW(IncrementalDecoder(small.backend, *small.model, DType::f32), tx::Bug);
}

BOOST_AUTO_TEST_SUITE_END()
