// The search for NVIDIA's libraries.
#include <stdlib.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "kernels/cuda/runtime/library_places.h"

using namespace tx;

namespace {

// HOME is a temporary directory during the lifetime of this object.
struct Home {
  Home() {
    folder = std::filesystem::temp_directory_path() / ("tx-home-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    if (const char* home = std::getenv("HOME")) kept = home;
    ::setenv("HOME", folder.c_str(), 1);
  }
  ~Home() {
    std::filesystem::remove_all(folder);
    ::setenv("HOME", kept.c_str(), 1);
  }
  std::string add(const std::string& place) const {
    const std::filesystem::path path = folder / ".local/lib" / place;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "no library";
    return path;
  }
  std::filesystem::path folder;
  std::string kept;
};

const SoughtLibrary some{"TX_TEST_LIBRARY", {"libsome.so.3", "libsome.so.2"}, {"one", "two"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(library_places_gpu)

BOOST_AUTO_TEST_CASE(the_loader_the_toolkit_and_the_packages_of_python) {
  const Home home;
  const std::string packages = "python3.11/site-packages/nvidia/";
  const std::string two = home.add(packages + "two/lib/libsome.so.2");
  const std::string one = home.add(packages + "one/lib/libsome.so.2");
  home.add(packages + "three/lib/libsome.so.2");
  home.add(packages + "one/lib/libother.so.2");
  const std::vector<std::string> wanted{"libsome.so.3",
                                        "libsome.so.2",
                                        "/usr/local/cuda/lib64/libsome.so.3",
                                        "/usr/local/cuda/lib64/libsome.so.2",
                                        one,
                                        two};
  BOOST_TEST(library_places(some) == wanted, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_environment_comes_first) {
  ::setenv("TX_TEST_LIBRARY", "/nowhere/libsome.so", 1);
  const std::vector<std::string> places = library_places(some);
  std::string tried;
  BOOST_TEST(open_first(some, tried) == nullptr);
  ::unsetenv("TX_TEST_LIBRARY");
  BOOST_TEST(places == std::vector<std::string>{"/nowhere/libsome.so"},
             boost::test_tools::per_element());
  BOOST_TEST(tried.starts_with("\n  /nowhere/libsome.so: "));
}

BOOST_AUTO_TEST_SUITE_END()
