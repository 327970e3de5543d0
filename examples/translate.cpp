// Translates standard input line by line with libtx:
//
//   c++ -std=c++20 translate.cpp $(pkg-config --cflags --libs tx) -o translate
//   ./translate model.safetensors < text
#include <tx/tx.h>

#include <exception>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: translate MODEL < TEXT\n";
    return 2;
  }
  try {
    const tx::Model model(argv[1]);
    for (std::string line; std::getline(std::cin, line);) {
      std::cout << model.translate(line) << std::endl;
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "translate: " << error.what() << "\n";
    return 1;
  }
}
