# `make install` puts everything down, and it works from there.
expect_status 0 env DESTDIR="$PWD/stage" cmake --install "$TX_BUILD" --prefix /opt/tx
prefix=$PWD/stage/opt/tx
library=$(find "$prefix" -name libtx.so)
[ -n "$library" ] || fail "no libtx.so among what is installed"
expect_file "$(dirname "$library")/pkgconfig/tx.pc"

# The installed tools find the installed library: it goes with them when the folder moves.
mv stage moved
prefix=$PWD/moved/opt/tx
for tool in $(tools); do
  expect_status 0 env -u LD_LIBRARY_PATH "$prefix/bin/$tool" --version
  expect_stdout_contains "$tool "
  ldd "$prefix/bin/$tool" | grep -F "libtx.so.0 => $prefix/" > /dev/null ||
    fail "$tool does not load the library installed beside it"
  expect_file "$prefix/share/bash-completion/completions/$tool"
done
for page in "$TX_SOURCE"/man/*.1.in "$TX_SOURCE"/man/*.5 "$TX_SOURCE"/man/*.7; do
  [ -e "$page" ] || continue
  name=$(basename "$page" .in)
  expect_file "$prefix/share/man/man${name##*.}/$name"
done
[ -z "$(find "$prefix" -name 'CMake*')" ] || fail "parts of the build are installed"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tx.pc)")
export PKG_CONFIG_PATH
expect_status 0 pkg-config --modversion tx
if [ -e "$TX_SOURCE/lib/tx.h" ]; then
  printf '#include <tx/tx.h>\nint main() { return 0; }\n' > user.cpp
  # shellcheck disable=SC2046  # words of a compiler's command line
  expect_status 0 c++ -std=c++20 user.cpp $(pkg-config --cflags --libs tx) -o user
fi
