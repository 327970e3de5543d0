#include "lib/attention/extraction.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <limits>

#include "tests/unit/search/random_model.h"

using namespace tx;
using namespace tx_test;

namespace {

const std::vector<int> source = {9, 40, 11, 40, 7, 3}, target = {2, 30, 12, 8, 33},
                       labels = {30, 12, 8, 33, 3};

std::vector<AttentionMaps> extract(RandomModel& model, const SelectionOptions& options = {},
                                   const std::vector<int>& input = target) {
  const Selection selection = options.resolve(model.transformer.config());
  return Extraction(model.backend, model.transformer, DType::f32, selection)
      .run({source, input})
      .maps;
}

RandomModel random_model(int threads = 1) {
  return RandomModel(small_config(), DType::f32, 50, threads);
}

bool same(const AttentionMap& a, const AttentionMap& b) {
  return a.rows == b.rows && a.columns == b.columns && a.values == b.values;
}

// softmax(q k^T / sqrt(d_k)) of the encoder's first layer in double, from the weights alone.
std::vector<double> first_layer(RandomModel& model, const std::vector<int>& ids, int head) {
  const ModelConfig& c = model.transformer.config();
  const auto weights = [&](const std::string& name) {
    for (const ParameterEntry& e : model.parameters.table()) {
      if (e.name == name) return model.parameters.fp32_weights(e);
    }
    throw std::runtime_error("no " + name);
  };
  const Matrix embedding = weights("embedding.weight");
  const size_t n = ids.size(), d = size_t(c.d_model);
  std::vector<std::vector<double>> x(n, std::vector<double>(d)), q, k;
  for (size_t i = 0; i < n; ++i) {
    const std::vector<double> position = sinusoid(int64_t(i), c.d_model);
    for (size_t j = 0; j < d; ++j) {
      x[i][j] = std::sqrt(double(d)) * double(embedding.row<float>(ids[i])[j]) + position[j];
    }
  }
  const auto project = [&](const std::string& name) {
    const Matrix w = weights("encoder.layers.0.self_attn." + name + ".weight");
    std::vector<std::vector<double>> out(n, std::vector<double>(size_t(c.d_k)));
    for (size_t i = 0; i < n; ++i)
      for (int l = 0; l < c.d_k; ++l)
        for (size_t j = 0; j < d; ++j)
          out[i][size_t(l)] += double(w.row<float>(head * c.d_k + l)[j]) * x[i][j];
    return out;
  };
  q = project("q_proj");
  k = project("k_proj");
  std::vector<double> out(n * n);
  for (size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (size_t j = 0; j < n; ++j) {
      double dot = 0;
      for (size_t l = 0; l < size_t(c.d_k); ++l) dot += q[i][l] * k[j][l];
      sum += out[i * n + j] = std::exp(dot / std::sqrt(double(c.d_k)));
    }
    for (size_t j = 0; j < n; ++j) out[i * n + j] /= sum;
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(weights_are_those_of_the_equation) {
  RandomModel model = random_model();
  const auto all = extract(model);
  for (const int head : {0, 3}) {
    const std::vector<double> wanted = first_layer(model, source, head);
    const AttentionMap& map = all[0][0][size_t(head)];
    BOOST_REQUIRE(map.values.size() == wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      BOOST_TEST(std::abs(double(map.values[i]) - wanted[i]) < 2e-6);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_row_sums_to_one) {
  RandomModel model = random_model();
  const auto all = extract(model);
  BOOST_REQUIRE(all.size() == 3u);
  const int64_t s = int64_t(source.size()), t = int64_t(target.size());
  const int64_t rows[] = {s, t, t}, columns[] = {s, t, s};
  const size_t layers[] = {2, 3, 3};
  for (size_t kind = 0; kind < 3; ++kind) {
    BOOST_TEST(all[kind].size() == layers[kind]);
    for (const auto& layer : all[kind]) {
      BOOST_TEST(layer.size() == 4u);
      for (const AttentionMap& map : layer) {
        BOOST_REQUIRE(map.rows == rows[kind]);
        BOOST_REQUIRE(map.columns == columns[kind]);
        for (int64_t i = 0; i < map.rows; ++i) {
          double sum = 0;
          for (int64_t j = 0; j < map.columns; ++j) {
            BOOST_TEST(map.at(i, j) >= 0.0f);
            sum += double(map.at(i, j));
          }
          BOOST_TEST(std::abs(sum - 1) < 1e-6);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_decoder_sees_nothing_behind) {
  RandomModel model = random_model();
  const auto all = extract(model);
  for (const auto& layer : all[1]) {
    for (const AttentionMap& map : layer) {
      for (int64_t i = 0; i < map.rows; ++i) {
        for (int64_t j = i + 1; j < map.columns; ++j) BOOST_TEST(map.at(i, j) == 0.0f);
      }
    }
  }
  std::vector<int> other = target;
  other.back() = 66;
  const auto changed = extract(model, {}, other);
  const auto& before = all[2][2][1];
  const auto& after = changed[2][2][1];
  for (int64_t j = 0; j < before.columns; ++j) {
    for (int64_t i = 0; i + 1 < before.rows; ++i) BOOST_TEST(before.at(i, j) == after.at(i, j));
  }
  BOOST_TEST(!same(before, after));
}

BOOST_AUTO_TEST_CASE(a_selection_takes_its_part) {
  RandomModel model = random_model();
  const auto all = extract(model);
  SelectionOptions o;
  o.kinds = "decoder,cross";
  o.layers = "0,2";
  o.heads = "1,3";
  const auto some = extract(model, o);
  BOOST_REQUIRE(some.size() == 2u);
  for (const size_t kind : {0, 1}) {
    BOOST_REQUIRE(some[kind].size() == 2u);
    for (const size_t layer : {0, 1}) {
      BOOST_REQUIRE(some[kind][layer].size() == 2u);
      for (const size_t head : {0, 1}) {
        BOOST_TEST(same(some[kind][layer][head], all[kind + 1][2 * layer][2 * head + 1]));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(means_are_means) {
  RandomModel model = random_model();
  SelectionOptions o;
  o.heads = "1-3";
  const auto all = extract(model, o);
  o.average = "heads";
  const auto heads = extract(model, o);
  o.average = "all";
  const auto layers = extract(model, o);
  const auto close = [](double a, double b) { return std::abs(a - b) < 1e-6; };
  for (size_t kind = 0; kind < 3; ++kind) {
    BOOST_REQUIRE(layers[kind].size() == 1u);
    BOOST_REQUIRE(layers[kind][0].size() == 1u);
    for (size_t i = 0; i < layers[kind][0][0].values.size(); ++i) {
      double sum = 0;
      for (size_t layer = 0; layer < all[kind].size(); ++layer) {
        double of_layer = 0;
        for (const AttentionMap& map : all[kind][layer]) of_layer += double(map.values[i]) / 3;
        BOOST_REQUIRE(heads[kind][layer].size() == 1u);
        BOOST_TEST(close(double(heads[kind][layer][0].values[i]), of_layer));
        sum += of_layer / double(all[kind].size());
      }
      BOOST_TEST(close(double(layers[kind][0][0].values[i]), sum));
    }
  }
}

// Computes each quantity from the one before it by its equation.
void check_quantities(const ModelConfig& config) {
  RandomModel model(config, DType::f32, 50);
  for (const ParameterEntry& e : model.parameters.table())
    for (int64_t j = 0; e.name.ends_with(".distances.weight") && j < e.cols; ++j)
      model.parameters.fp32_weights(e).row<float>(0)[j] = 0.3f * float(j % 7) - 1;
  SelectionOptions o;
  o.what = "weights,scores,scaled,masked,q,k,v,context,output";
  o.heads = "0,2";
  const Selection selection = o.resolve(model.transformer.config());
  Extraction extraction(model.backend, model.transformer, DType::f32, selection);
  const Extracted all = extraction.run({source, target});
  const double scale = std::sqrt(double(model.transformer.config().d_k));
  const auto close = [](double a, double b) { return std::abs(a - b) < 3e-6; };
  for (size_t kind = 0; kind < 3; ++kind)
    for (size_t layer = 0; layer < all.maps[kind].size(); ++layer) {
      BOOST_TEST(all.of(Quantity::output)[kind][layer].size() == 1u);
      BOOST_TEST(all.of(Quantity::output)[kind][layer][0].columns == 48);
      for (size_t head = 0; head < 2; ++head) {
        const auto at = [&](Quantity q) { return all.of(q)[kind][layer][head]; };
        const AttentionMap weights = at(Quantity::weights), masked = at(Quantity::masked);
        const AttentionMap v = at(Quantity::v), q = at(Quantity::q), k = at(Quantity::k);
        BOOST_REQUIRE(k.rows == weights.columns);
        for (int64_t i = 0; i < weights.rows; ++i) {
          double sum = 0;
          for (int64_t j = 0; j < weights.columns; ++j) {
            double dot = 0;
            for (int64_t l = 0; l < q.columns; ++l) dot += double(q.at(i, l)) * double(k.at(j, l));
            BOOST_TEST(close(at(Quantity::scores).at(i, j), dot));
            BOOST_TEST(close(at(Quantity::scaled).at(i, j), dot / scale));
            const bool far = kind < 2 && config.window && std::abs(i - j) >= config.window;
            BOOST_TEST(std::isinf(masked.at(i, j)) == ((kind == 1 && j > i) || far));
            sum += std::exp(double(masked.at(i, j)));
          }
          for (int64_t j = 0; j < weights.columns; ++j)
            BOOST_TEST(close(weights.at(i, j), std::exp(double(masked.at(i, j))) / sum));
          for (int64_t l = 0; l < v.columns; ++l) {
            double mixed = 0;
            for (int64_t j = 0; j < v.rows; ++j)
              mixed += double(weights.at(i, j)) * double(v.at(j, l));
            BOOST_TEST(close(at(Quantity::context).at(i, l), mixed));
          }
        }
      }
    }
}

BOOST_AUTO_TEST_CASE(quantities_lead_from_one_to_the_next) {
  ModelConfig config = small_config();
  check_quantities(config);
  config.positions = PositionEncoding::alibi;
  config.window = 4, config.kv_heads = 2;
  check_quantities(config);
  config.positions = PositionEncoding::rotary;
  config.window = 0, config.kv_heads = 1;
  check_quantities(config);
  config.positions = PositionEncoding::relative;
  config.distance_buckets = 8, config.distance_reach = 10;
  check_quantities(config);
}

// P of all tokens sums to 1, and the rank is the number of likelier tokens plus 1.
BOOST_AUTO_TEST_CASE(labels_have_log_p_and_rank) {
  RandomModel model = random_model();
  SelectionOptions o;
  o.what = "log_p";
  const Selection selection = o.resolve(model.transformer.config());
  Extraction extraction(model.backend, model.transformer, DType::f32, selection);
  std::vector<double> total(target.size());
  std::vector<std::vector<float>> all(target.size());
  for (int id = 0; id < 71; ++id) {
    const std::vector<int> same_label(target.size(), id);
    const Extracted one = extraction.run({source, target}, same_label);
    BOOST_TEST(one.maps.empty());
    for (size_t i = 0; i < target.size(); ++i) {
      total[i] += std::exp(double(one.log_p[i]));
      all[i].push_back(one.log_p[i]);
    }
  }
  const Extracted some = extraction.run({source, target}, labels);
  for (size_t i = 0; i < target.size(); ++i) {
    BOOST_TEST(std::abs(total[i] - 1) < 1e-5);
    int64_t rank = 1;
    for (const float other : all[i]) rank += other > some.log_p[i];
    BOOST_TEST(some.rank[i] == rank);
    BOOST_TEST(some.log_p[i] == all[i][size_t(labels[i])]);
  }
}

// One object, several sentences of many lengths, any number of threads: the same bits.
BOOST_AUTO_TEST_CASE(a_sentence_does_not_depend_on_what_came_before) {
  RandomModel model = random_model(), threaded = random_model(3);
  const Selection selection = SelectionOptions().resolve(model.transformer.config());
  Extraction one(model.backend, model.transformer, DType::f32, selection);
  Extraction three(threaded.backend, threaded.transformer, DType::f32, selection);
  for (const int length : {3, 40, 1, 17}) {
    const auto from = random_sentence(uint32_t(length), length + 1);
    auto to = random_sentence(uint32_t(length) + 50, 41 - length);
    const auto fresh =
        Extraction(model.backend, model.transformer, DType::f32, selection).run({from, to}).maps;
    const auto again = one.run({from, to}).maps, other = three.run({from, to}).maps;
    for (size_t kind = 0; kind < 3; ++kind) {
      BOOST_TEST(same(again[kind][1][2], fresh[kind][1][2]));
      BOOST_TEST(same(other[kind][1][2], fresh[kind][1][2]));
    }
  }
}

BOOST_AUTO_TEST_CASE(low_precision_gives_nearly_the_same) {
  RandomModel full = random_model(), low(small_config(), DType::bf16, 50);
  const Selection selection = SelectionOptions().resolve(full.transformer.config());
  const auto wanted = extract(full);
  const auto given =
      Extraction(low.backend, low.transformer, DType::bf16, selection).run({source, target}).maps;
  for (size_t i = 0; i < wanted[2][0][0].values.size(); ++i) {
    BOOST_TEST(std::abs(wanted[2][0][0].values[i] - given[2][0][0].values[i]) < 0.03f);
  }
}

BOOST_AUTO_TEST_CASE(a_damaged_model_is_refused) {
  RandomModel model = random_model();
  for (const ParameterEntry& e : model.parameters.table()) {
    if (e.name != "encoder.layers.0.self_attn_norm.weight") continue;
    model.parameters.fp32_weights(e).row<float>(0)[5] = std::numeric_limits<float>::quiet_NaN();
  }
  BOOST_CHECK_THROW(extract(model), DataError);
}

BOOST_AUTO_TEST_CASE(a_decoder_alone_looks_back_at_itself) {
  ModelConfig config = small_config();
  config.set_kind(ModelKind::decoder);
  RandomModel model(config, DType::f32, 50);
  const Selection selection = SelectionOptions().resolve(config);
  const auto maps =
      Extraction(model.backend, model.transformer, DType::f32, selection).run({target}).maps;
  BOOST_REQUIRE(maps.size() == 1u);
  BOOST_TEST(maps[0].size() == 2u);
  for (const auto& layer : maps[0])
    for (const AttentionMap& map : layer)
      for (int64_t row = 0; row < map.rows; ++row) {
        double sum = 0;
        for (int64_t column = 0; column <= row; ++column) sum += double(map.at(row, column));
        BOOST_TEST(std::abs(sum - 1) < 1e-5);
      }
}
