# `make install` installs everything, and the installed files work.
expect_status 0 env DESTDIR="$PWD/stage" cmake --install "$TX_BUILD" --prefix /opt/tx
prefix=$PWD/stage/opt/tx
library=$(find "$prefix" -name libtx.so)
[ -n "$library" ] || fail "libtx.so is not installed"
expect_file "$(dirname "$library")/pkgconfig/tx.pc"
expect_file "$(dirname "$library")/libtx-cpu.so"

# The model of `make demo`, if there is one.
if [ -e "$TX_BUILD/share/tx/demo.safetensors" ]; then
  expect_same "$TX_BUILD/share/tx/demo.safetensors" "$prefix/share/tx/demo.safetensors"
else
  grep -q /share/tx/demo.safetensors "$TX_BUILD/cmake_install.cmake" || fail "no model is installed"
fi

# The installed tools find the installed library, also after the directory is moved.
mv stage moved
prefix=$PWD/moved/opt/tx
for tool in $(tools); do
  expect_status 0 env -u LD_LIBRARY_PATH "$prefix/bin/$tool" --version
  expect_stdout_contains "$tool "
  expect_stdout_lacks "cannot load"
  ldd "$prefix/bin/$tool" | grep -F "libtx.so.0 => $prefix/" > /dev/null ||
    fail "$tool does not load the installed library"
  expect_file "$prefix/share/bash-completion/completions/$tool"
  expect_file "$prefix/share/zsh/site-functions/_$tool"
  expect_file "$prefix/share/fish/vendor_completions.d/$tool.fish"
done
for page in "$TX_SOURCE"/man/*.1.in "$TX_SOURCE"/man/*.5 "$TX_SOURCE"/man/*.7; do
  [ -e "$page" ] || continue
  name=$(basename "$page" .in)
  expect_file "$prefix/share/man/man${name##*.}/$name"
done
[ -z "$(find "$prefix" -name 'CMake*')" ] || fail "files of the build are installed"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tx.pc)")
export PKG_CONFIG_PATH
expect_status 0 pkg-config --modversion tx
# A user's program, compiled and linked with the installed files only.
# shellcheck disable=SC2046  # words of a compiler's command line
expect_status 0 "${CXX:-c++}" -std=c++20 -Wall -Wextra -Werror "$TX_SOURCE/examples/translate.cpp" \
  $(pkg-config --cflags --libs tx) -o translate
make_model model
printf 'w5 w6\n\nw7' > in
expect_status 0 "$prefix/bin/tx-decode" -m model in
cp "$TX_LAST/stdout" wanted
mkdir -p "$prefix/share/tx"
mv model "$prefix/share/tx/numbers.safetensors"
expect_status 0 "$prefix/bin/tx-decode" -m numbers in
expect_stdout_file wanted
expect_status 0 env LD_LIBRARY_PATH="$(dirname "$(find "$prefix" -name libtx.so)")" \
  ./translate numbers < in
expect_stdout_file wanted
expect_status 1 env LD_LIBRARY_PATH="$(dirname "$(find "$prefix" -name libtx.so)")" \
  ./translate missing < in
expect_stderr_contains 'translate: '
