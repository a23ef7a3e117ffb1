# SPDX-License-Identifier: Apache-2.0
# A thin front for Meson and Ninja: everything is built in build/.
BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
NINJA ?= ninja
MESON ?= meson

.PHONY: all demo check bench fuzz soak install clean lint

all: $(BUILD)/build.ninja
	$(NINJA) -C $(BUILD)

$(BUILD)/build.ninja:
	@scripts/setup --name build
	$(MESON) setup $(BUILD) $(MESON_OPTIONS)

# Each installs what is missing from Debian first (root or sudo), else names it.
demo:
	@scripts/setup build demo
	@$(MAKE) --no-print-directory all
	@scripts/demo $(BUILD)

check:
	@scripts/setup build check
	@$(MAKE) --no-print-directory all
	@scripts/run-tests $(BUILD) $(SUITES)

bench: all
	@bench/run $(BUILD)

# SECONDS_EACH=N limits each fuzzer; FUZZERS="a b" chooses some.
SECONDS_EACH ?= 60
fuzz:
	@scripts/setup build check
	@scripts/fuzz $(SECONDS_EACH) $(FUZZERS)

# SOAK_SECONDS=N: an hour unless told.
SOAK_SECONDS ?= 3600
soak: all
	@tests/soak/run $(BUILD) $(SOAK_SECONDS)

install: all
	$(MESON) configure $(BUILD) -Dprefix=$(PREFIX)
	DESTDIR=$(DESTDIR) $(MESON) install -C $(BUILD)

lint:
	@scripts/setup build check
	@scripts/lint $(BUILD)

clean:
	rm -rf $(BUILD)
