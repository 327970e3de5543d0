#!/bin/sh
# Installs the packages that building and testing tx needs on Debian and Ubuntu. Without root or
# passwordless sudo it prints the command to run and ends with status 1.
#   sh deps.sh               installs all packages
#   sh deps.sh --if-missing  does nothing if everything needed is installed
set -eu

needed="g++ make cmake pkg-config git libopenblas-dev libsentencepiece-dev nlohmann-json3-dev \
libcli11-dev libboost-test-dev libxxhash-dev libpcre2-dev libutf8proc-dev zlib1g-dev"
# Optional: oneDNN for faster bf16 matrix products, mandoc to check the manual pages, Boost.Context
# to test the CUDA kernels without a GPU, Open MPI to train with several ranks, Node.js to test the
# engine of live pages, dpkg-dev and file for make deb.
wanted="libdnnl-dev mandoc libboost-context-dev libopenmpi-dev openmpi-bin nodejs dpkg-dev file"

# Looks for programs, libraries and headers rather than packages: they may be installed otherwise.
everything_is_there() {
  for command in make cmake pkg-config git; do
    command -v "$command" > /dev/null || return 1
  done
  compiler=$(command -v c++ || command -v g++ || command -v clang++) || return 1
  pkg-config --exists openblas sentencepiece libxxhash libpcre2-8 libutf8proc zlib || return 1
  for header in CLI/CLI.hpp nlohmann/json.hpp boost/test/unit_test.hpp sentencepiece_trainer.h; do
    echo "#include <$header>"
  done | "$compiler" -std=c++17 -E -x c++ - > /dev/null 2>&1
}

if [ "${1:-}" = --if-missing ] && everything_is_there; then exit 0; fi

if ! command -v apt-get > /dev/null; then
  echo "deps: this system has no apt-get; install the equivalents of:" >&2
  echo "  $needed $wanted" >&2
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
  sudo=
elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
  sudo=sudo
else
  echo "deps: packages are missing and need root to be installed; type this line:" >&2
  echo "  sudo apt-get update && sudo apt-get install -y $needed $wanted" >&2
  exit 1
fi

$sudo apt-get update -qq
# Older releases lack some of these packages; the others are installed all the same.
for package in $wanted; do
  if [ -n "$(apt-cache madison "$package")" ]; then
    needed="$needed $package"
  else
    echo "deps: no package $package here; going on without it" >&2
  fi
done
# shellcheck disable=SC2086  # a list of words
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $needed
