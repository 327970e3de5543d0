// Blocks of host memory and their images on the GPU.
#pragma once
#include "kernels/cuda.h"
#include "tests/unit/kernels/gemm_support.h"

namespace tx_test {

// A copy of a whole block, with its guard bytes, on the GPU; the constructor uploads it.
class Image {
 public:
  Image(tx::Cuda& cuda, Block& block) : cuda_(cuda), block_(block) {
    data_ = static_cast<char*>(cuda.allocate(block.bytes().size()));
    upload();
  }
  ~Image() { cuda_.release(data_); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  tx::Matrix view() const {
    tx::Matrix m = block_.view();
    m.data = data_ + (static_cast<char*>(m.data) - block_.bytes().data());
    return m;
  }
  void upload() { cuda_.upload(data_, block_.bytes().data(), block_.bytes().size()); }
  void download() { cuda_.download(block_.bytes().data(), data_, block_.bytes().size()); }
  // Whether the bytes on the GPU are those of the block.
  bool unchanged() const {
    std::vector<char> now(block_.bytes().size());
    cuda_.download(now.data(), data_, now.size());
    return now == block_.bytes();
  }

 private:
  tx::Cuda& cuda_;
  Block& block_;
  char* data_;
};

}  // namespace tx_test
