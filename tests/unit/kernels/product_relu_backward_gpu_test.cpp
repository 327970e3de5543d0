// product_relu_backward on the GPU: the table of product_relu_backward_test.cpp, and as one kernel.
#include "tests/unit/kernels/product_relu_backward_test.cpp"

BOOST_AUTO_TEST_SUITE(product_relu_backward)

// On a Hopper without cuBLASLt.
BOOST_AUTO_TEST_CASE(in_one_kernel) {
  const char* before = std::getenv("TX_CUDA_TRY");
  const std::string kept = before ? before : "";
  setenv("TX_CUDA_TRY", "dx", 1);
  const Layout layout{64, 0, 0, 0, 0x7f}, apart{64, 8, 16, 0, 0x7f};  // a backend of their own
  Run run(layout);
  setenv("TX_CUDA_TRY", kept.c_str(), 1);
  const bool hopper = tx::describe_backends().find("(9.0)") != std::string::npos;
  const int64_t even[][3] = {{128, 128, 64},  {1, 8, 8},      {127, 136, 72}, {129, 64, 128},
                             {300, 264, 256}, {70, 200, 512}, {260, 8, 600}};
  for (const auto& [rows, width, inner] : even)
    for (const double drop : {0.0, 0.3})
      for (const Layout& here : {layout, apart}) {
        const Problem p(DType::bf16, rows, width, inner, drop);
        BOOST_TEST_CONTEXT(rows << " x " << width << " x " << inner << ", p " << drop << ", gap "
                                << here.right)
        check(p, here, drop > 0);
      }
  run.call([&](auto& k) { BOOST_TEST((k.tuning() == "") == hopper); });
}

BOOST_AUTO_TEST_SUITE_END()
