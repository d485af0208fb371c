# Four commands are enough: `make demo`, and for a change `make check` while it is made, `make test` before it is merged and
# `make full` before a release.

CARGO ?= cargo
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

# Lint and tests are about the same crates with the same features, so that what comes from others is compiled once:
# cargo takes the features of a dependency together over the packages that are asked for.
WHOLE := --locked --workspace --features reticent/arrow,reticent/ndarray
# Program and libraries as the tests have them: without a test among the targets cargo leaves the features out that only
# tests ask for, and compiles what comes from others a second time.
BUILT := $(WHOLE) --lib --bin reticent --test cli

.DEFAULT_GOAL := help
.PHONY: help demo check test full tools format lint features package supply-chain docs unit seeded-bugs exports pages \
	python python-oldest semver mutants wheel book reproduce reproduce-quick fuzz msrv nightly bench bench-utility \
	bench-coverage bench-python bench-peers bench-network bench-sparse notebooks build dist flower ray soak rough kills hostile \
	services

help: ## Show what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## Build the command line (target/release/reticent)
	$(CARGO) build --release --locked -p reticent-cli

# The first model soon: a program of its own beside that of `make build`, with what the demo runs and no more, and little
# optimised. It says what it is not.
demo: ## Train a private model on built-in data, and say what its certificate means
	$(CARGO) build --profile quick --locked -p reticent-cli --no-default-features
	"$${CARGO_TARGET_DIR:-target}/quick/reticent" demo --out target/demo
	@echo
	@echo "What ran is $${CARGO_TARGET_DIR:-target}/quick/reticent, which was compiled quickly: little optimised, without runs on a"
	@echo "network, budget serve and Parquet. \`make build\` builds the whole program: $${CARGO_TARGET_DIR:-target}/release/reticent"

# What changed is asked of git, what depends on it of cargo. Without Python it is everything.
check: tools ## While working: format, clippy, and the unit tests of what changed and of what depends on it
	@if command -v python3 >/dev/null; then python3 tools/check.py $(BASE); \
	else $(CARGO) fmt --all --check && $(CARGO) clippy $(WHOLE) --lib --bins -- -D warnings && $(CARGO) test $(WHOLE) --lib --bins; fi

# The last three wait for a browser and for other people's programs, so they are done side by side. The defects come last:
# they are compiled into our own crates, which the next ordinary build compiles again.
test: tools format lint docs unit ## Before a merge: install what the tests need, then check everything that guards privacy
	$(MAKE) --output-sync=target -j3 exports pages python
	$(MAKE) seeded-bugs

full: test ## Before a release: `test`, every feature alone, packages, old scikit-learn, semver, mutants, more attacks
	$(MAKE) features
	$(MAKE) package
	$(MAKE) python-oldest
	$(MAKE) semver
	$(MAKE) mutants
	$(MAKE) nightly
	$(MAKE) flower
	$(MAKE) ray
	$(MAKE) rough
	$(MAKE) hostile
	$(MAKE) services
	$(MAKE) kills
	$(MAKE) soak

# rustup may be absent where Rust came from a distribution; then its components come from there too.
tools:
	@$(CARGO) fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@$(CARGO) clippy --version >/dev/null 2>&1 || rustup component add clippy

format:
	$(CARGO) fmt --all --check

lint:
	$(CARGO) clippy $(WHOLE) --all-targets -- -D warnings

# None of them, and each alone: what a dependant may ask for. A test compares the list with the manifests.
# The same packages every time, whether or not they have the feature: see WHOLE.
features:
	$(CARGO) check --locked --no-default-features \
		-p reticent-data -p reticent-oracle -p reticent-runtime -p reticent -p reticent-audit -p reticent-reproduction -p reticent-plot -p reticent-cli
	$(CARGO) check --locked --no-default-features --features parquet \
		-p reticent-data -p reticent-oracle -p reticent-runtime -p reticent -p reticent-audit -p reticent-reproduction -p reticent-plot -p reticent-cli
	$(CARGO) check --locked --no-default-features --features serve \
		-p reticent-data -p reticent-oracle -p reticent-runtime -p reticent -p reticent-audit -p reticent-reproduction -p reticent-plot -p reticent-cli
	$(CARGO) check --locked --no-default-features --features network \
		-p reticent-data -p reticent-oracle -p reticent-runtime -p reticent -p reticent-audit -p reticent-reproduction -p reticent-plot -p reticent-cli
	$(CARGO) check --locked --no-default-features --features arrow \
		-p reticent-data -p reticent-oracle -p reticent-runtime -p reticent -p reticent-audit -p reticent-reproduction -p reticent-plot -p reticent-cli
	$(CARGO) check --locked --no-default-features --features ndarray \
		-p reticent-data -p reticent-oracle -p reticent-runtime -p reticent -p reticent-audit -p reticent-reproduction -p reticent-plot -p reticent-cli
	$(CARGO) check --locked --no-default-features --features clap \
		-p reticent-data -p reticent-oracle -p reticent-runtime -p reticent -p reticent-audit -p reticent-reproduction -p reticent-plot -p reticent-cli
	$(CARGO) check --locked --no-default-features --features serde \
		-p reticent-data -p reticent-oracle -p reticent-runtime -p reticent -p reticent-audit -p reticent-reproduction -p reticent-plot -p reticent-cli

package: ## Make the files that would be published (target/package)
	$(CARGO) package --locked --workspace --exclude reticent-testkit --exclude reticent-fuzz --exclude reticent-python --no-verify --allow-dirty --quiet

# Advisories are asked for online; everything else is checked without a network.
supply-chain: ## Check licences, versions and sources of dependencies with cargo-deny (deny.toml)
	@$(CARGO) deny --version >/dev/null 2>&1 || { echo "cargo-deny is not here; get it with: cargo install --locked cargo-deny"; exit 1; }
	$(CARGO) fetch --locked
	$(CARGO) deny --locked --offline check licenses bans sources
	$(CARGO) deny --locked check advisories || echo "advisories were not checked, or there are some: see above"

# Clippy knows since when the standard library has what we use, and a test that no dependency asks for more; this
# compiles everything with the oldest compiler itself.
msrv: ## Compile with the oldest supported Rust (needs rustup)
	rustup toolchain install --profile minimal $(MSRV)
	cargo +$(MSRV) check --locked --workspace --all-targets

docs: ## Build the documentation of the crates (target/doc)
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps

# The pages are read by the tests, which run their commands; this makes a book of them, with mdBook (kept in target/tools).
book: ## Build the book (target/book)
	@test -x target/tools/bin/mdbook || $(CARGO) install --locked --quiet mdbook --version 0.5.4 \
		--no-default-features --features search --root target/tools
	python3 docs/book.py target/book-src
	target/tools/bin/mdbook build

# Unit, integration and doc tests; the README's commands are one of them. Examples are compiled by `lint`, and run as modules
# of a test: to link each as a program would show nothing more.
unit:
	RETICENT_BUILD="$(WHOLE)" $(CARGO) test $(WHOLE) --tests
	$(CARGO) test $(WHOLE) --doc

# The defects that the audit must catch are in no ordinary build. A build script takes them in, so that what comes from
# others is not compiled again; the crates that have them are, and once more by the next ordinary build.
seeded-bugs: ## Check that audits find every known defect
	RETICENT_SEEDED_BUGS=1 $(CARGO) test $(WHOLE) --test seeded_bugs

# A second accountant against the first: ten times the cases of `make test`. Attacks that repeat cells of the map with
# other budgets and lengths.
nightly: ## Check the accountant on 2,000 random and extreme cases (RETICENT_SEED=N for others), and more attacks
	RETICENT_CASES=2000 RETICENT_SEED="$${RETICENT_SEED:-7}" \
		$(CARGO) test $(WHOLE) --test second_accountant -- --nocapture
	RETICENT_CASES=400 $(CARGO) test $(WHOLE) --test facade where_a_person_stands -- --nocapture
	RETICENT_NIGHTLY=1 $(CARGO) test $(WHOLE) --test audit -- --nocapture wherever_a_person_stands product::

# The crates with a stability promise, against the newest release, before the first one the newest `api-…` or the commit that
# tools/api-baseline names. What the tool reads depends on the compiler, so it is the newest of its kind.
semver: ## Check that the public API breaks nothing since the newest tag or tools/api-baseline (cargo-semver-checks, kept in target/tools)
	@base=$$(sh tools/baselines.sh | head -n 1); \
	if [ -z "$$base" ]; then echo "skipped: the check of the public API, because this clone has no tag and no commit of tools/api-baseline"; exit 0; fi; \
	test -x target/tools/bin/cargo-semver-checks || $(CARGO) install --locked --quiet cargo-semver-checks --root target/tools; \
	PATH="$$PWD/target/tools/bin:$$PATH" $(CARGO) semver-checks --baseline-rev "$$base" \
		-p reticent -p reticent-accountant -p reticent-budget

mutants: ## Change the lines that changed, and see whether tests notice (cargo-mutants, kept in target/tools; BASE=COMMIT, MUTANTS=N at most)
	sh tools/mutants.sh $(BASE)

# The experiments of the papers. The small ones are a test of their own (reproduction/), without data; with
# RETICENT_DATA=DIR both read the public tables from there. What was stopped goes on where it was.
reproduce: ## Run the experiments of the papers again (hours; data: RETICENT_DATA=DIR, results in target/reproduction)
	$(CARGO) build --release --locked -p reticent-reproduction
	"$${CARGO_TARGET_DIR:-target}/release/reproduce" all --out target/reproduction

reproduce-quick: ## The same, small (minutes)
	$(CARGO) build --release --locked -p reticent-reproduction
	"$${CARGO_TARGET_DIR:-target}/release/reproduce" all --quick --out target/reproduction-quick

# The targets are compiled by `lint`. Running them takes a C++ compiler and cargo-fuzz, or fuzz/build.sh without it.
fuzz: ## Build the fuzz targets with coverage (target/fuzz/bin)
	sh fuzz/build.sh

# Exported models against the program itself, in SQLite, onnxruntime and scikit-learn; what cannot be had is skipped with a
# message. The program is the one that the tests of the command line have built.
exports:
	$(CARGO) test $(WHOLE) --no-run --test cli
	@command -v python3 >/dev/null || { echo "skipped: exports, because there is no python3 here"; exit 0; }; \
	python3 crates/cli/tests/exports.py --reticent "$${CARGO_TARGET_DIR:-target}/debug/reticent" \
		--venv "$${CARGO_TARGET_DIR:-target}/export-venv"

# The pages in a real Chromium: looked at in two widths and both schemes, checked by axe, printed; no request may leave.
pages: ## Look at the pages in a browser (pictures in target/pages)
	$(CARGO) test $(WHOLE) --no-run --test cli
	sh crates/report/tests/browser/pages.sh "$${CARGO_TARGET_DIR:-target}/debug/reticent" "$${CARGO_TARGET_DIR:-target}/pages"

# The Python package and its tests in a fresh virtual environment, packed from what the tests above have compiled.
python: ## Test the Python package in a fresh virtual environment
	$(CARGO) build $(BUILT)
	@command -v python3 >/dev/null || { echo "skipped: the Python package, because there is no python3 here"; exit 0; }; \
	python3 python/test.py --target "$${CARGO_TARGET_DIR:-target}/debug" --venv "$${CARGO_TARGET_DIR:-target}/python-venv"

# A SuperLink with TLS and a database, SuperNodes with keys, and our couriers, in a namespace with loopback alone; skipped by name
# without the right to one.
flower: ## Run Reticent through a real Flower (flwr, which it installs; minutes)
	$(CARGO) build $(BUILT)
	@command -v python3 >/dev/null || { echo "skipped: Flower, because there is no python3 here"; exit 0; }; \
	python3 python/flower.py --reticent "$${CARGO_TARGET_DIR:-target}/debug/reticent" --venv "$${CARGO_TARGET_DIR:-target}/flower-venv"

# Actors that are killed, sweeps and audits, in a network namespace with loopback alone; skipped by name without the right to one.
ray: ## Test the Python package on a real Ray (which it installs; minutes)
	$(CARGO) build $(BUILT)
	@command -v python3 >/dev/null || { echo "skipped: Ray, because there is no python3 here"; exit 0; }; \
	python3 python/ray_cluster.py --target "$${CARGO_TARGET_DIR:-target}/debug" --venv "$${CARGO_TARGET_DIR:-target}/ray-venv"

# Packets of a network of namespaces are lost, late and doubled; disks are full, clocks apart. Skipped by name without the right
# to make namespaces. Its members are a test program: they have a seed, so that bits can be compared.
rough: ## Run between members on rough networks, full disks and odd clocks: same bits, paid once (minutes)
	$(CARGO) build $(BUILT)
	@command -v python3 >/dev/null || { echo "skipped: rough networks, because there is no python3 here"; exit 0; }; \
	RETICENT_BUILD="$(WHOLE)" python3 benches/rough.py --reticent "$${CARGO_TARGET_DIR:-target}/debug/reticent"

hostile: ## Have thousands of strangers come to a lead: turned away by name, memory bounded, the run as without them
	$(CARGO) build $(BUILT)
	@command -v python3 >/dev/null || { echo "skipped: strangers at a lead, because there is no python3 here"; exit 0; }; \
	python3 benches/hostile.py --reticent "$${CARGO_TARGET_DIR:-target}/debug/reticent"

services: ## Run the example units under a real systemd, in a container with loopback alone (needs root, systemd-nspawn)
	$(CARGO) build $(BUILT)
	sh tools/services.sh "$${CARGO_TARGET_DIR:-target}/debug/reticent"

# Over links and trusts, sums and nodes. The members have a seed, as those of `rough`: their bits are those of a run without kills.
kills: ## Kill members of runs on a network 200 times at random (RETICENT_KILLS=N): the same bits, paid once (minutes)
	RETICENT_KILLS="$${RETICENT_KILLS:-200}" $(CARGO) test $(WHOLE) --test host -- --nocapture kills::

# Members are killed at random moments, again and again, over both links, under each trust; bounded to ten minutes, in which
# 10,000 rounds are asked at least.
soak: ## Kill members of runs on a network at random for ten minutes (SOAK_SECONDS=N): same model, paid once
	$(CARGO) build $(BUILT)
	@command -v python3 >/dev/null || { echo "skipped: random kills, because there is no python3 here"; exit 0; }; \
	python3 benches/soak.py --reticent "$${CARGO_TARGET_DIR:-target}/debug/reticent" --seconds "$${SOAK_SECONDS:-600}"

# scikit-learn's own checks, and the tests of what it wraps around an estimator, with the oldest that is supported.
python-oldest: ## Test the Python package with the oldest supported scikit-learn
	$(CARGO) build $(BUILT)
	@command -v python3 >/dev/null || { echo "skipped: the oldest scikit-learn, because there is no python3 here"; exit 0; }; \
	python3 python/test.py --oldest --target "$${CARGO_TARGET_DIR:-target}/debug" --venv "$${CARGO_TARGET_DIR:-target}/python-venv-oldest"

# The pages of docs/notebooks and docs/python-api.md, from the wheel that the tests have installed.
notebooks: ## Run the Python notebooks and write their pages (real data: RETICENT_DATA=DIR)
	python3 python/test.py --target "$${CARGO_TARGET_DIR:-target}/debug" --venv "$${CARGO_TARGET_DIR:-target}/python-venv" --keep test_package.py
	RETICENT="$${CARGO_TARGET_DIR:-target}/debug/reticent" "$${CARGO_TARGET_DIR:-target}/python-venv/bin/python" python/notebooks/render.py --out docs/notebooks
	"$${CARGO_TARGET_DIR:-target}/python-venv/bin/python" python/api.py docs/python-api.md

wheel: ## Build the Python package for users (dist/)
	python3 -m venv "$${CARGO_TARGET_DIR:-target}/wheel-venv"
	"$${CARGO_TARGET_DIR:-target}/wheel-venv/bin/python" -m pip install --quiet 'maturin>=1.9,<2'
	"$${CARGO_TARGET_DIR:-target}/wheel-venv/bin/maturin" build --release --locked --manifest-path python/Cargo.toml --out dist

# From a clean clone: what is built is the commit (RELEASING.md). Nothing is signed without SIGN=KEY, a key of OpenSSH.
dist: ## Build what users install: programs, wheel, sources, bills of materials, checksums (dist/; SIGN=KEY, URL=…)
	python3 tools/dist.py --out dist $(if $(SIGN),--sign "$(SIGN)") $(if $(URL),--url "$(URL)")

bench: build ## Measure what the project promises about speed and memory (data: RETICENT_DATA=DIR)
	$(CARGO) bench --locked -p reticent-oracle -p reticent-noise --bench pass --bench noise
	python3 benches/roofline.py
	python3 benches/wide.py --venv "$${CARGO_TARGET_DIR:-target}/bench-venv"
	python3 benches/accounting.py --venv "$${CARGO_TARGET_DIR:-target}/bench-venv"
	$(CARGO) build --release --locked -p reticent-data --example measure
	python3 benches/reading.py --measure "$${CARGO_TARGET_DIR:-target}/release/examples/measure" \
	    --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"
	python3 benches/fit.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"
	python3 benches/curves.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"
	python3 benches/sweep.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"
	python3 benches/memory.py
	python3 benches/cache.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent" --compare
	python3 benches/predict.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"

bench-python: build wheel ## Measure the Python package: import, size, small fits, a fit against the command line's
	python3 -m venv "$${CARGO_TARGET_DIR:-target}/bench-python"
	"$${CARGO_TARGET_DIR:-target}/bench-python/bin/python" -m pip install --quiet scikit-learn pyarrow dist/*.whl
	"$${CARGO_TARGET_DIR:-target}/bench-python/bin/python" benches/python.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"

# Only where it is asked for: 5 GB.
bench-peers: wheel ## Compare a fit with diffprivlib and Opacus, which it installs: 5 GB (data: RETICENT_DATA=DIR)
	python3 -m venv "$${CARGO_TARGET_DIR:-target}/bench-peers"
	"$${CARGO_TARGET_DIR:-target}/bench-peers/bin/python" -m pip install --quiet diffprivlib opacus 'scikit-learn<1.7' dist/*.whl
	"$${CARGO_TARGET_DIR:-target}/bench-peers/bin/python" benches/peers.py

bench-network: build ## Measure runs on a network: time over each link, first answer, memory, idle connections, 1,000 parties
	python3 benches/network.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"
	$(CARGO) bench --locked -p reticent-host --bench many
	python3 benches/parties.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"

bench-sparse: build ## Check that a million sparse columns are fitted in 2 minutes and 2 GB (makes tables; minutes)
	python3 benches/wide_sparse.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"

bench-coverage: build ## Measure how often intervals of coefficients hold what made the tables
	python3 benches/coverage.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"

bench-utility: build ## Measure how good private models are on public data sets (data: RETICENT_DATA=DIR)
	python3 benches/utility.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"
	python3 benches/utility.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent" --only monotone \
		--sets a9a,w8a,mushrooms,breast-cancer,cal-housing --epsilons 0.2,1,4 --seeds 5
	python3 benches/columns.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent" --venv "$${CARGO_TARGET_DIR:-target}/bench-venv"
	python3 -m venv "$${CARGO_TARGET_DIR:-target}/bench-utility"
	"$${CARGO_TARGET_DIR:-target}/bench-utility/bin/python" -m pip install --quiet \
		interpret-core==0.7.8 diffprivlib==0.6.6 'scikit-learn<1.7' scipy pyarrow
	"$${CARGO_TARGET_DIR:-target}/bench-utility/bin/python" benches/benchmark.py --write docs/benchmark.md \
		--results "$${CARGO_TARGET_DIR:-target}/benchmark.jsonl" \
		--reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"
	python3 benches/constant.py --reticent "$${CARGO_TARGET_DIR:-target}/release/reticent"
