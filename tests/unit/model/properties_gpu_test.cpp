// The properties of a model on the GPU; f64, the reference, stays on the CPU.
#include <cstdlib>

#include "tests/unit/model/properties_test.cpp"

BOOST_AUTO_TEST_SUITE(model_properties)

// Against a library without bit masks for relu, which only the emulated cuBLASLt can imitate: other
// products run, but every gradient has the same bits.
BOOST_AUTO_TEST_CASE(masks_of_relu_change_no_bit) {
  const char* library = std::getenv("TX_CUBLASLT");
  const bool emulated = library && std::string(library).find("emulated") != std::string::npos;
  for (const bool recompute : {false, true})
    for (DType dtype : dtypes()) {
      const tx::DropoutRates masks{.3, .2, 0, 7, nullptr};
      const std::vector<Sentence> one{sentence_of(1, 5, 9), sentence_of(2, 70, 30)};
      SmallModel small(small_config(), dtype), without(small_config(), dtype);
      small.recompute = without.recompute = recompute;
      const std::vector<double> first = small.gradients({one}, masks);
      setenv("TX_EMULATED_MASKS", "0", 1);
      const std::vector<double> second = without.gradients({one}, masks);
      unsetenv("TX_EMULATED_MASKS");
      BOOST_TEST((first == second));
      const auto products = [](SmallModel& m) {
        std::string text;
        text = m.backend->tuning();
        return text;
      };
      if (emulated && dtype != DType::f64) BOOST_TEST(products(small) != products(without));
    }
}

BOOST_AUTO_TEST_SUITE_END()
