// What an Extraction reads against PyTorch: attention.json is made by make_attention.py. In f64 all
// numbers agree up to the final rounding to f32, in f32 up to the errors of f32.
#include <boost/test/unit_test.hpp>

#include "lib/attention/extraction.h"
#include "tests/golden/golden_model.h"
#include "tests/golden/summary.h"

using namespace tx_test;

namespace {

const Json& golden_attention() {
  static const Json all = golden_file("attention.json");
  return all;
}

// All heads of one layer, one after another; masked scores as 0.
std::vector<double> joined(const std::vector<tx::AttentionMap>& heads) {
  std::vector<double> out;
  for (const tx::AttentionMap& map : heads)
    for (const float x : map.values) out.push_back(std::isinf(x) ? 0 : double(x));
  return out;
}

// The largest differences over all sentences of a model of the file, by quantity.
class Comparison {
 public:
  Comparison(const Json& entry, DType dtype)
      : backend_(backend_for(dtype, 2)),
        parameters_(tx::Parameters::only_weights(backend_, config_of(entry["config"]), dtype)),
        model_(prepared(), parameters_, 70) {
    tx::SelectionOptions options;
    options.what = "weights,scores,scaled,masked,q,k,v,context,output,log_p";
    selection_ = options.resolve(model_.config());
    tx::Extraction extraction(backend_, model_, dtype, selection_);
    for (const Json& s : entry["sentences"]) {
      const auto ids = [&](const char* side) { return s[side].get<std::vector<int>>(); };
      compare(extraction.run({ids("source"), ids("input")}, ids("labels")), s);
    }
  }

  std::map<std::string, double> worst;
  int ranks = 0, ranks_that_differ = 0, layers = 0;

 private:
  tx::Backend& prepared() {
    fill_weights(backend_, parameters_);
    parameters_.prepare_inference();
    return backend_;
  }

  void add(const std::string& what, double difference) {
    worst[what] = std::max(worst[what], difference);
  }

  void compare(const tx::Extracted& found, const Json& sentence) {
    const auto& rank = sentence["rank"];
    BOOST_REQUIRE(found.rank.size() == rank.size());
    for (size_t i = 0; i < rank.size(); ++i) {
      ++ranks;
      ranks_that_differ += found.rank[i] != rank[i].get<int64_t>();
      const double wanted = sentence["log_p"][i];
      add("log_p", std::abs(double(found.log_p[i]) - wanted) / std::abs(wanted));
    }
    for (size_t kind = 0; kind < selection_.kinds.size(); ++kind)
      for (const int layer : selection_.kinds[kind].layers) {
        const std::string place =
            name_of(selection_.kinds[kind].kind) + std::string(".") + std::to_string(layer);
        const Json& wanted = sentence["layers"].at(place);
        ++layers;
        for (const tx::Quantity quantity : selection_.what) {
          const std::string name = tx::name_of_value(quantity);
          const auto values = joined(found.of(quantity)[kind][size_t(layer)]);
          add(name, difference(place + "." + name, values, wanted.at(name)));
        }
      }
  }

  tx::Backend backend_;
  tx::Parameters parameters_;
  tx::Transformer model_;
  tx::Selection selection_;
};

void check_all(DType dtype, double bound) {
  for (const auto& [name, entry] : golden_attention().items()) {
    BOOST_TEST_CONTEXT(name) {
      const Comparison c(entry, dtype);
      const tx::ModelConfig config = config_of(entry["config"]);
      BOOST_TEST(c.layers == 3 * (config.sides[0].layers + 2 * config.sides[1].layers));
      BOOST_TEST(c.worst.size() == 10u);
      for (const auto& [what, x] : c.worst) {
        BOOST_TEST_CONTEXT(what) BOOST_TEST(x < bound);
        BOOST_TEST_MESSAGE(name << " " << what << ": " << x);
      }
      BOOST_TEST(c.ranks == 40);
      BOOST_TEST(c.ranks_that_differ == 0);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(golden_attention_steps)

// Sums with probes add up the last roundings of up to 4 x 33 x 33 numbers.
BOOST_AUTO_TEST_CASE(f64_every_step) { check_all(DType::f64, 3e-6); }

BOOST_AUTO_TEST_CASE(f32_every_step) { check_all(DType::f32, 2e-5); }

BOOST_AUTO_TEST_SUITE_END()
