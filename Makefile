# The main job is `make demo`. Every target sets up what it needs; stamp files in .venv keep it from being done twice.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup site install-optimised profile-guided wheel twice demo test test-rust test-debug test-python test-wheel test-lowest test-slurm test-browser test-page page lint types golden random fuzz method mutate settable conform kills faults emulate-kills emulate-numbers test-uml uml-numbers bench instructions instructions-check micro docs clean adapters

VENV    := .venv
PYTHON  := $(VENV)/bin/python
TONOPAH := $(VENV)/bin/tonopah
PIP     := $(PYTHON) -m pip install --quiet --disable-pip-version-check --require-hashes
MATURIN := env VIRTUAL_ENV=$(CURDIR)/$(VENV) $(CURDIR)/$(VENV)/bin/maturin develop --locked --quiet
VIRTUAL := python/tonopah/virtual.so
RUST    := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name 'Cargo.toml')

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /\1\t/' | awk -F '\t' '{printf "  make %-18s %s\n", $$1, $$2}'

# maturin alone, so that the engine is compiled while the other packages are installed.
$(VENV)/.maturin: requirements.lock
	python3 -c 'import sys; sys.exit("Tonopah needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	python3 -m venv $(VENV)
	sed -n '/^maturin==/,/^[^ ]*==/{/^maturin==/p;/^ *--hash/p}' requirements.lock > $(VENV)/maturin.lock
	$(PIP) --requirement $(VENV)/maturin.lock
	touch $@

# Python compiles a module when it is first imported, and most modules of these packages never are.
$(VENV)/.installed: $(VENV)/.maturin
	$(PIP) --no-compile --requirement requirements.lock
	touch $@

# What the site, its tests and optional parts need; `make demo` does without.
$(VENV)/.extra: $(VENV)/.installed requirements-extra.lock
	$(PIP) --no-compile --requirement requirements-extra.lock
	touch $@

# `release` is what the Rust tests compile, and CI: less building, a slower engine, the same bits.
ENGINE ?= thin

$(VENV)/.engine: $(VENV)/.maturin pyproject.toml $(RUST)
	$(MATURIN) --profile $(ENGINE) --skip-install
	touch $@

# The package is installed in place, so only a change of the Rust code or of its metadata needs a new build.
$(VENV)/.built: $(VENV)/.maturin pyproject.toml $(RUST)
	$(MAKE) --no-print-directory --jobs=2 $(VENV)/.installed $(VENV)/.engine
	$(MATURIN) --profile $(ENGINE)
	$(MAKE) --no-print-directory $(VIRTUAL)
	touch $@

# Clocks and random numbers of transports in libraries; for Linux with glibc, elsewhere there is none.
$(VIRTUAL): $(wildcard crates/virtual/src/*.rs crates/virtual/Cargo.toml)
	cargo build --release --locked --quiet --package tonopah-virtual
	[ ! -e target/release/libtonopah_virtual.so ] || cp target/release/libtonopah_virtual.so $@

adapters: ## build the transports of docs/examples as libraries (docs/transport.md)
	for crate in quinn-endpoint smoltcp; do (cd docs/examples/$$crate && cargo build --release --locked); done

setup: $(VENV)/.built ## make the virtual environment and build the engine (the other targets do this themselves)

install-optimised: $(VENV)/.built ## build the engine again, optimised as a whole: a little faster, for minutes of building
	$(MATURIN) --profile dist

profile-guided: $(VENV)/.built ## the same with a profile of what runs often, as in the wheel (rustup component add llvm-tools)
	.ci/profile-guided $(MATURIN) --profile dist

# The limit shows what grows: 7.7 MB in 0.31.2, of which the engine is 4.4 and the recordings of Linux are 1.5.
wheel: $(VENV)/.built ## build a wheel for Python 3.11 and later in dist/, its bill of materials beside it, and try it elsewhere
	.ci/as-shipped cargo build --release --locked --quiet --package tonopah-virtual
	cp target/shipped/release/libtonopah_virtual.so $(VIRTUAL)
	.ci/as-shipped .ci/profile-guided $(CURDIR)/$(VENV)/bin/maturin build --locked --quiet --out dist
	.ci/bill > dist/tonopah.cdx.json
	$(PYTHON) .ci/try-wheel dist 8500000

twice: $(VENV)/.installed ## build what is shipped from two folders, and compare their bytes (minutes)
	.ci/built-twice $(CURDIR)/$(VENV)/bin/maturin

demo: $(VENV)/.built ## run the study `beside-cubic` and print where its report is
	$(TONOPAH) study run beside-cubic

test: test-rust test-python test-wheel ## run all tests of both languages

test-rust: ## run the tests of the engine
	cargo test --release --workspace --locked

# Three minutes of building, which CI has no time for: the golden tables hold fingerprints of every packet event.
test-debug: ## prove that a debug build, which checks overflow and assertions, gives the bits of the golden tables
	cargo test --package tonopah-sim --locked --test golden --test golden_networks

# One process more than cores, four at most: some tests wait for clocks, clusters and browsers.
test-python: $(VENV)/.built $(VENV)/.extra ## run the tests of the Python package
	$(PYTHON) -m pytest --numprocesses=$$($(PYTHON) -c 'import os; print(min(4, 1 + (os.cpu_count() or 1)))') --dist=loadfile --ignore=python/tests/test_slurm.py

# The engine of `make setup` in a wheel: the same files as in that of `make wheel`, whose engine is smaller (profile `dist`).
test-wheel: $(VENV)/.built ## install the package as a wheel into an environment of its own and try it
	$(VENV)/bin/maturin build --profile $(ENGINE) --strip --locked --quiet --out target/wheel
	$(PYTHON) .ci/try-wheel target/wheel

# The lower bounds of pyproject.toml, each with what it was raised for; warnings of old packages are theirs.
LOWEST := test_cluster_safety.py test_compiled.py test_gym.py test_pictures.py test_report.py test_run.py test_scenario.py \
	test_stats.py test_study_file.py test_terminal.py lab/test_lab_security.py

.venv-lowest/.installed: requirements-lowest.lock
	python3 -m venv .venv-lowest
	.venv-lowest/bin/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-lowest.lock
	touch $@

test-lowest: $(VENV)/.built .venv-lowest/.installed ## run a part of the Python tests with the lowest versions that pyproject.toml allows
	PYTHONPATH=$(CURDIR)/python .venv-lowest/bin/python -m pytest --numprocesses=2 --dist=loadfile \
	    --override-ini=filterwarnings=default $(addprefix python/tests/,$(LOWEST))

test-slurm: $(VENV)/.built $(VENV)/.extra ## run both ways of docs/cluster.md on Slurm (Debian: apt-get install slurm-wlm; else skipped)
	$(PYTHON) -m pytest python/tests/test_slurm.py -rs

test-browser: $(VENV)/.built ## look at a report in Chromium (TONOPAH_CHROMIUM names one; `make test` does so if there is one)
	$(PYTHON) -m pytest python/tests/test_browser.py -rs

# The engine for browsers; wasm-opt (Debian: binaryen) makes it smaller where it is.
WEB := target/wasm32-unknown-unknown/release/web.wasm
$(WEB): $(RUST)
	rustup target add wasm32-unknown-unknown
	cargo build --release --locked --quiet --package tonopah-web --target wasm32-unknown-unknown
	if command -v wasm-opt >/dev/null; then wasm-opt -O3 --enable-bulk-memory --enable-nontrapping-float-to-int $@ -o $@; fi

page: $(VENV)/.built $(WEB) ## write the lab as a page without a server into target/page (docs/lab.md)
	PYTHONPATH=python $(PYTHON) -m tonopah_dev.page $(WEB) target/page

test-page: page ## hold the engine of the page against the native one, on presets and all golden runs, in Node; and look at the page
	rm -f target/golden-runs.jsonl
	TONOPAH_GOLDEN_RUNS=$(CURDIR)/target/golden-runs.jsonl cargo test --release --package tonopah-sim --locked --test golden --test golden_networks
	$(PYTHON) -m pytest python/tests/test_page.py -rs

lint: $(VENV)/.extra ## check format and style of both languages, layers, licences and versions
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- --deny warnings
	$(VENV)/bin/ruff format --check python
	$(VENV)/bin/ruff check python
	cd python && ../$(VENV)/bin/lint-imports --config ../pyproject.toml --no-cache
	$(PYTHON) .ci/supply

# basedpyright brings Node, which is larger than all else: an environment of its own, and no part of CI.
.venv-types/.installed: requirements-types.lock
	python3 -m venv .venv-types
	.venv-types/bin/pip install --quiet --require-hashes --requirement requirements-types.lock
	touch $@

types: $(VENV)/.built $(VENV)/.extra .venv-types/.installed ## check types with basedpyright in standard mode (half a minute of CPU)
	.venv-types/bin/basedpyright --pythonpath $(PYTHON)

golden: ## rewrite the golden tables of the engine (say why in the commit)
	GOLDEN_UPDATE=1 cargo test --release --package tonopah-sim --locked --test golden --test golden_networks

RANDOM_SEQUENCES ?= 100000

random: ## run RANDOM_SEQUENCES (100000) random sequences of two TCP ends over a disturbed network
	TONOPAH_RANDOM_SEQUENCES=$(RANDOM_SEQUENCES) cargo test --release --package tonopah-tcp --locked --test random -- --nocapture

FUZZ_SECONDS ?= 60

fuzz: $(VENV)/.built ## feed a TCP end and readers nonsense for FUZZ_SECONDS (60) each; the end needs nightly Rust and cargo-fuzz
	for kind in captures qlogs packetdrill packs links; do $(PYTHON) python/tests/fuzz_readers.py $$kind $(FUZZ_SECONDS); done
	cargo +nightly fuzz run endpoint -- -max_total_time=$(FUZZ_SECONDS) -max_len=2048
	mkdir -p fuzz/corpus/scenario
	cargo +nightly fuzz run captures -- -max_total_time=$(FUZZ_SECONDS) -max_len=20000
	cargo +nightly fuzz run scenario fuzz/corpus/scenario fuzz/seeds/scenario -- -max_total_time=$(FUZZ_SECONDS) -timeout=5 \
	    -rss_limit_mb=2048 -dict=fuzz/scenario.dict

METHOD_STUDIES ?= 500

method: $(VENV)/.built ## judge METHOD_STUDIES (500) synthetic studies whose truth is known, and count the wrong verdicts
	$(PYTHON) python/tests/method_simulation.py $(METHOD_STUDIES)
	PYTHONPATH=python $(PYTHON) python/tests/method_kinds.py $(METHOD_STUDIES)

MUTATIONS ?= 100000

mutate: $(VENV)/.built ## change files of every kind at random, MUTATIONS (100000) of each: each is accepted or refused; wrong branches of the source, which `conform` is to catch
	TONOPAH_MUTATIONS=$(MUTATIONS) $(PYTHON) -m pytest python/tests/test_mutations.py python/tests/test_file_mutations.py -s
	TONOPAH_DAMAGED_LOGS=10000 $(PYTHON) -m pytest python/tests/test_qlog.py -k damaged
	TONOPAH_DAMAGED_LIBRARIES=1000 $(PYTHON) -m pytest python/tests/test_transport.py -k damaged
	TONOPAH_SOURCE_MUTANTS=1 $(PYTHON) -m pytest python/tests/test_source_mutants.py

conform: $(VENV)/.built ## every wrong constant against the cases that are to catch it, and bbr3 with seven seeds
	TONOPAH_CONFORM=all $(PYTHON) -m pytest python/tests/test_conform.py

KILLS ?= 100

settable: $(VENV)/.built ## set every path of every scenario of the shipped studies to other values, and look that each counts (minutes)
	TONOPAH_SETTABLE=all $(PYTHON) -m pytest python/tests/test_settable.py

kills: $(VENV)/.built ## kill `study run`, `evaluate` and `break` at KILLS (100) random moments each; the results are the same, byte for byte
	TONOPAH_KILLS=$(KILLS) $(PYTHON) -m pytest python/tests/test_kills.py -s

FAULTS ?= 100

faults: $(VENV)/.built ## a disk that fails in three ways, and a clock that jumps, at FAULTS (100) random moments of a study each
	TONOPAH_FAULTS=$(FAULTS) $(PYTHON) -m pytest python/tests/test_faults.py -s

EMULATION_KILLS ?= 20

emulate-kills: $(VENV)/.built ## kill an emulation at EMULATION_KILLS (20) random moments; no process, device, mount or route is left
	TONOPAH_EMULATION_KILLS=$(EMULATION_KILLS) $(PYTHON) -m pytest python/tests/test_kernel.py -k killed

emulate-numbers: $(VENV)/.built ## the kernel's flows in our network beside ours: the numbers of docs/kernel.md (minutes of real time)
	$(PYTHON) -m tonopah_dev.kernel_numbers

test-uml: $(VENV)/.built ## build a kernel in virtual time, once (10 minutes), and test what runs on it
	$(PYTHON) -c "from tonopah.kernel.virtual import kernels; exit(not kernels())" || $(PYTHON) -m tonopah kernel build
	$(PYTHON) -m pytest python/tests/test_uml.py

uml-numbers: $(VENV)/.built ## the numbers of docs/kernel.md by a kernel in virtual time, which no load of the machine disturbs
	$(PYTHON) -m tonopah_dev.kernel_numbers uml

# BENCH holds further arguments, like BENCH="--only wifi40,leo10". Some of ns-3's runs would take a quarter of an hour each.
BENCH ?= --limit 120

bench: install-optimised ## CPU time and memory on standard worlds, beside ns-2 and ns-3 where they are installed
	peers=; if command -v ns >/dev/null; then peers=ns2,ns2-lean; fi; \
	if pkg-config --exists ns3-core ns3-internet 2>/dev/null; then peers=$${peers:+$$peers,}ns3; fi; \
	$(PYTHON) -m tonopah_dev.bench $${peers:+--against $$peers} $(BENCH)

instructions: ## instructions per data packet of the standard scenarios, by callgrind: whatever the load of the machine
	.ci/instructions

instructions-check: ## refuse more than 1 % above the stored numbers of some (Debian: apt-get install valgrind; else skipped)
	.ci/instructions --check

micro: ## time of the engine's parts: the schedule, a link, an endpoint, access to a channel
	cargo bench --package tonopah-sim --locked --bench parts

docs: $(VENV)/.built ## write the pages of docs/generated that the engine's registry, schema and stored results give
	$(PYTHON) -m tonopah_dev.pages.reference docs
	$(PYTHON) -m tonopah_dev.pages.gallery docs/generated/algorithms.png
	$(PYTHON) -m tonopah_dev.pages.queues docs/generated
	$(PYTHON) -m tonopah_dev.pages.kept docs/generated
	$(PYTHON) -m tonopah_dev.pages.notebooks docs/notebooks
	$(PYTHON) -m tonopah.reports.docs docs

site: $(VENV)/.built $(VENV)/.extra ## write the documentation as a site into target/site
	PYTHONPATH=python NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet

clean: ## remove everything that is built or computed
	rm -rf $(VENV) .venv-types .venv-lowest target dist results .pytest_cache .ruff_cache
	find python -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/tonopah/_core*.so
