// attention and attention_weights.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "tests/support.h"
#include "tests/unit/kernels/naive_attention.h"

using namespace tx_test;

namespace {

// o and the log-sum-exps.
Results run_scene(const Scene& s) {
  return run_layouts([&](Run& run) {
    tx::Attention a = s.operands(run);
    a.o = run.output(s.q.rows, s.heads * s.d_v, s.t);
    a.lse = lse_array(run, Dense(1, s.q.rows * s.heads, NAN), s.t);
    run.call([&](auto& b) { b.attention(a); });
    run.keep(a.o);
    keep_lse(run, s, a.lse);
  });
}

Dense run_weights(const Scene& s, int64_t sentence, int head) {
  return run_layouts([&](Run& run) {
    tx::Attention a = s.operands(run);
    a.v = {};
    const int64_t n = s.queries[size_t(sentence)], m = s.keys[size_t(sentence)];
    const Matrix weights = run.output(n, m, DType::f32);
    run.call([&](auto& b) { b.attention_weights(a, sentence, head, weights); });
    run.keep(weights);
  })[0];
}

// One head, no dropout, d = columns of the tables.
Scene scene_of(const Dense& q, const Dense& k, const Dense& v, DType t, double scale,
               bool causal = false) {
  Packed shape;
  shape.queries = {q.rows}, shape.keys = {k.rows};
  shape.d_k = int(q.cols), shape.d_v = int(v.cols);
  shape.scale = scale, shape.causal = causal;
  Scene s(shape, t);
  s.q = q, s.k = k, s.v = v;
  return s;
}

void check_sums(const Packed& shape, DType t) {
  const Scene s(shape, t);
  const NaiveAttention want(s);
  const Results got = run_scene(s);
  BOOST_TEST_CONTEXT(s) {
    check_close(got[0], want.o, sum_tolerance(t));
    check_close(got[1], want.lse, sum_type(t), 2);
  }
}

// Each sentence alone gives the same bits as in the batch.
void check_sentences_alone(const Packed& shape, DType t) {
  const Scene s(shape, t);
  const Dense all = run_scene(s)[0];
  for (size_t i = 0; i < s.queries.size(); ++i) {
    const Dense got = run_scene(s.sentence(i))[0], want = all.slice(s.q_offsets[i], s.queries[i]);
    BOOST_TEST(same_bits(got, want), s << ", sentence " << i);
  }
}

std::vector<DType> precise() {
  return dtypes().size() > 2 ? std::vector{DType::f32, DType::f64} : std::vector{DType::f32};
}

constexpr Tolerance six_digits{0, 1e-6, 1};

}  // namespace

BOOST_AUTO_TEST_SUITE(attention)

BOOST_AUTO_TEST_CASE(table) {
  for (const DType t : dtypes())
    for (const Packed& shape : packings()) check_sums(shape, t);
}

BOOST_AUTO_TEST_CASE(every_length) {  // a GPU, perhaps emulated, tests a third of them
  const int64_t step = dtypes().back() == DType::f64 ? 5 : 15;
  for (const bool causal : {false, true})
    for (int64_t first = 1; first <= 130; first += step) {
      Packed shape;
      for (int64_t n = first; n < std::min<int64_t>(first + 5, 131); ++n)
        shape.queries.push_back(n);
      shape.keys = shape.queries;
      if (!causal) std::reverse(shape.keys.begin(), shape.keys.end());
      shape.causal = causal;
      const Scene s(shape, DType::f32);
      BOOST_TEST_CONTEXT(s << " from " << first) {
        check_close(run_scene(s)[0], NaiveAttention(s).o, DType::f32);
      }
    }
}

BOOST_AUTO_TEST_CASE(weights_table) {
  for (const DType t : dtypes())
    for (const Packed& shape : packings()) {
      const Scene s(shape, t);
      const NaiveAttention want(s);
      for (int64_t sentence = 0; sentence < s.sentences(); ++sentence) {
        const int head = int(sentence) % s.heads;
        BOOST_TEST_CONTEXT(s << ", sentence " << sentence) {
          const Dense got = run_weights(s, sentence, head), w = want.weights(sentence, head);
          check_close(got, round_to(DType::f32, w), DType::f32);
          for (size_t i = 0; i < w.data.size(); ++i)
            if (w.data[i] == 0 && got.data[i] != 0) BOOST_TEST(got.data[i] == 0, "masked " << i);
        }
      }
    }
}

BOOST_AUTO_TEST_CASE(known_softmax) {
  const Dense keys = {{1, 0}, {0, 1}, {.7, .7}, {-1, 0}}, query = {{.9, .1}};
  const Dense values = {{10, 20}, {30, 40}, {15, 25}, {50, 60}};
  for (const DType t : precise()) {
    const Scene plain = scene_of(query, keys, values, t, 1);
    check_close(run_weights(plain, 0, 0), {{.410955, .184654, .336461, .067930}}, six_digits);
    check_close(run_scene(plain)[0], {{18.0926, 28.0926}}, {0, 2e-6});
    const Scene scaled = scene_of(query, keys, values, t, 1 / std::sqrt(2));
    check_close(run_weights(scaled, 0, 0), {{.368169, .209109, .319616, .103105}}, six_digits);
    check_close(run_scene(scaled)[0], {{19.9045, 29.9045}}, {0, 2e-6});
  }
}

BOOST_AUTO_TEST_CASE(known_sentence) {
  const Dense q = {{1, .5}, {.2, 1}, {.8, .3}}, k = {{.9, .1}, {.3, .8}, {.7, .6}};
  const Dense v = {{1, 0}, {0, 1}, {1, 1}};
  const double scale = 1 / std::sqrt(2);
  for (const DType t : precise()) {
    const Scene full = scene_of(q, k, v, t, scale), causal = scene_of(q, k, v, t, scale, true);
    check_close(
        run_weights(full, 0, 0),
        {{.347953, .291573, .360475}, {.256977, .387264, .355759}, {.354716, .293067, .352217}},
        six_digits);
    check_close(run_scene(full)[0], {{.708427, .652047}, {.612736, .743023}, {.706933, .645284}},
                six_digits);
    check_close(run_weights(causal, 0, 0),
                {{1, 0, 0}, {.398883, .601117, 0}, {.354716, .293067, .352217}}, six_digits);
    check_close(run_scene(causal)[0], {{1, 0}, {.398883, .601117}, {.706933, .645284}}, six_digits);
  }
}

BOOST_AUTO_TEST_CASE(known_temperatures) {
  const double expected[4][5] = {{.5, .8390, .1135, .0418, .0057},
                                 {1, .5977, .2199, .1334, .0491},
                                 {2, .4228, .2564, .1997, .1211},
                                 {5, .3158, .2586, .2340, .1916}};
  for (const auto& [temperature, a, b, c, d] : expected) {
    const Scene s =
        scene_of({{1}}, {{2}, {1}, {.5}, {-.5}}, Dense(4, 1, 1), DType::f32, 1 / temperature);
    check_close(run_weights(s, 0, 0), {{a, b, c, d}}, {0, 1e-4, 1});
  }
}

BOOST_AUTO_TEST_CASE(known_extremes) {
  for (const DType t : precise()) {
    const Dense ones(10, 1, 1);
    const Scene large = scene_of({{1}}, {{1000}, {999}}, Dense(2, 1, 1), t, 1);
    check_close(run_weights(large, 0, 0), {{.731059, .268941}}, six_digits);
    const Scene equal = scene_of({{7}}, Dense(4, 1, 7), Dense(4, 1, 1), t, 1);
    check_close(run_weights(equal, 0, 0), Dense(1, 4, .25), {0, 0});
    Scene one = scene_of({{1}}, Dense(10, 1), ones, t, 1);
    one.k(3, 0) = 6.3;
    BOOST_TEST(std::abs(run_weights(one, 0, 0)(0, 3) - .983742) < 1e-6);
    one.scale = 1.0 / 8;
    BOOST_TEST(std::abs(run_weights(one, 0, 0)(0, 3) - .196278) < 1e-6);
  }
}

// Scores of thousands: one key takes all, nothing overflows.
BOOST_AUTO_TEST_CASE(large_scores) {
  for (const DType t : dtypes()) {
    const Scene s({{17, 3}, {63, 130}, 2, 2, 8, 8, false, 1, 0}, t, 60);
    const Results got = run_scene(s);
    const NaiveAttention want(s);
    check_close(got[1], want.lse, sum_type(t), 2);
    Tolerance limit = tolerance(t);
    if (t != DType::f64) limit.of_scale = 2e-3;  // scores of 20,000 in float: 2^-10
    check_close(got[0], want.o, limit);
  }
}

BOOST_AUTO_TEST_CASE(not_a_number_stays_in_its_sentence) {
  Scene s({{5, 5, 5}, {7, 7, 7}, 1, 1, 8, 8, false, 0, 0}, DType::f32);
  s.k(10, 3) = NAN;
  const Dense o = run_scene(s)[0];
  for (int64_t i = 0; i < 15; ++i)
    for (int64_t j = 0; j < 8; ++j) BOOST_TEST(std::isnan(o(i, j)) == (i >= 5 && i < 10));
}

BOOST_AUTO_TEST_CASE(sentences_do_not_depend_on_other_sentences) {
  for (const DType t : dtypes())
    for (const Packed& shape : packings()) check_sentences_alone(shape, t);
}

#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer needs the whole address space
// A long sentence that needs more memory than the limit throws; the process does not abort.
BOOST_AUTO_TEST_CASE(memory_that_is_refused_is_an_error, *only_on_the_cpu()) {
  if (const char* on = std::getenv("TX_SANITIZE"); on && std::string(on) == "ON") return;  // qemu
  // In a new thread: the OpenMP threads of this one do not exist in the forked child.
  const auto child = run_in_child([] {
    bool refused = false;
    std::thread([&] {
      constexpr int64_t keys = 400'000, width = 4;
      std::vector<float> query(width), cache(keys * width), out(width);
      const int32_t q_offsets[] = {0, 1}, k_offsets[] = {0, keys};
      tx::Attention a;
      a.q = tx::matrix(query.data(), DType::f32, 1, width);
      a.k = a.v = tx::matrix(cache.data(), DType::f32, keys, width);
      a.o = tx::matrix(out.data(), DType::f32, 1, width);
      a.q_offsets = q_offsets, a.k_offsets = k_offsets, a.sentences = 1;
      a.d_k = a.d_v = width;
      tx::Backend backend = tx::make_backend(tx::Device::cpu, 1);
      long pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      const rlim_t max = rlim_t(pages) * rlim_t(sysconf(_SC_PAGESIZE)) + (rlim_t(16) << 20);
      const rlimit limit = {max, max};
      setrlimit(RLIMIT_AS, &limit);
      try {
        backend->attention(a);
      } catch (const std::bad_alloc&) {
        refused = true;
      }
    }).join();
    return refused ? 0 : 3;
  });
  BOOST_TEST(child.status == 0);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
