# SPDX-License-Identifier: Apache-2.0
# A thin front for Meson and Ninja: everything is built in build/.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
NINJA ?= ninja
MESON ?= meson

# Ninja uses all processors by itself; two targets at once (make -j) would build in one directory.
.NOTPARALLEL:
.PHONY: all tests demo check deb bench fuzz soak install clean lint

# The command, the libraries and the manual pages; the tests and what they need are built by those who
# run them.
all:
	@scripts/setup --name build
	@scripts/configure "$(BUILD)" product $(MESON_OPTIONS)
	$(NINJA) -C "$(BUILD)" product

# Since Meson 1.7 (Debian 13) `all` leaves out what only tests need. Each installs what is missing from Debian first (root or sudo), else names it.
tests:
	@scripts/setup build check
	@scripts/configure "$(BUILD)" tests $(MESON_OPTIONS)
	$(NINJA) -C "$(BUILD)" all meson-test-prereq meson-benchmark-prereq

demo:
	@scripts/setup build demo
	@scripts/demo "$(BUILD)"

# SUITES="unit install" chooses suites of tests, TESTS="exactness life" single ones (both: both).
check: tests
	@scripts/run-tests "$(BUILD)" $(addprefix --suite ,$(SUITES)) $(TESTS)

bench: tests
	@bench/run "$(BUILD)"

# SECONDS_EACH=N limits each fuzzer; FUZZERS="a b" chooses some.
SECONDS_EACH ?= 60
fuzz:
	@scripts/setup build check
	@scripts/fuzz $(SECONDS_EACH) $(FUZZERS)

# SOAK_SECONDS=N: an hour unless told.
SOAK_SECONDS ?= 3600
soak: tests
	@tests/soak/run "$(BUILD)" $(SOAK_SECONDS)

# Debian packages of what is committed, in $(BUILD)/deb.
deb:
	@scripts/setup build deb
	@scripts/deb "$(BUILD)"

install: all
	$(MESON) configure "$(BUILD)" -Dprefix="$(PREFIX)"
	DESTDIR="$(DESTDIR)" $(MESON) install --no-rebuild -C "$(BUILD)"

lint: tests
	@scripts/lint "$(BUILD)"

clean:
	rm -rf "$(BUILD)"
