# The two commands a new user needs are `make run` and `make test`.

# scripts/setup.sh puts Go and Node here where the machine has none.
export PATH := $(CURDIR)/.tools/go/bin:$(CURDIR)/.tools/node/bin:$(PATH)

# A certificate authority may be a file of its own in /etc/ssl/certs. Go trusts
# it; pip and npm trust only the bundle. scripts/setup.sh joins the two.
ifneq ($(shell find /etc/ssl/certs -maxdepth 1 -type f -name '*.pem' 2>/dev/null),)
export PIP_CERT          := $(CURDIR)/.tools/ca.pem
export NPM_CONFIG_CAFILE := $(CURDIR)/.tools/ca.pem
endif

# What a shell has set for other Go projects does not reach this build. git may
# refuse a folder of another user, and the version is stamped below.
export GOFLAGS     := $(filter -trimpath,$(GOFLAGS)) -buildvcs=false
export GO111MODULE := on
export GOWORK      := off
export GOTOOLCHAIN := auto
export CGO_ENABLED := 1
unexport GOROOT NODE_ENV

export NPM_CONFIG_UPDATE_NOTIFIER := false

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
DATE    ?= $(shell git log -1 --format=%cI 2>/dev/null)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.buildDate=$(DATE)
TOOL    := $(GO) tool -modfile=tools/go.mod

.DEFAULT_GOAL := help

.PHONY: help
help: ## Print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

.PHONY: run
run: build ## Build, serve a demo workspace and print an example call
	@exec bin/fanfare demo

.PHONY: web
web: tools ## Build the console and the API reference
	@sh scripts/web.sh

.PHONY: build
build: tools ## Build bin/fanfare
	@sh scripts/prepare.sh
	@echo "Building bin/fanfare…" >&2
	@$(GO) build -ldflags '$(LDFLAGS)' -o bin/fanfare ./cmd/fanfare

.PHONY: tools
tools: ## Install the build tools (Go, Node, a C++ compiler)
	@sh scripts/setup.sh build

.PHONY: setup
setup: ## Install the build and test tools (Go, Node, Python, PostgreSQL, ClickHouse, HAProxy, Chromium, a C++ compiler)
	@sh scripts/setup.sh all

# RACED are packages with concurrent code that link no database: with one,
# building for the race detector takes longer than the tests. `make race` has it
# on everywhere.
RACED := internal/(control|datadir|fresh|ingest|listen|outbound|adplatform/(transport|sandbox)|llm/sandbox|seal)

# LONG are started first. The browser tests run beside all others and come
# before them, because a browser without computing time fails by waiting.
LONG := ./internal/metrics/clickhouse ./internal/httpapi ./test/guard ./cmd/fanfare ./test/scenario ./test/docs

# GORACE removes the second that every process would otherwise wait at its end,
# GOGC trades memory for time, and vet is one of the linters.
GOTEST := GORACE=atexit_sleep_ms=0 GOGC=400 $(GO) test -vet=off -ldflags='-s -w'

.PHONY: test
test: setup ## Run all tests, with short drills, on SQLite, DuckDB, PostgreSQL, ClickHouse, an S3 service and Chromium
	@sh scripts/prepare.sh
	$(GOTEST) -race -timeout 30m $$($(GO) list ./... | grep -E '/$(RACED)$$')
	$(GO) build -tags testclock -ldflags='-s -w' -o bin/fanfare-test ./cmd/fanfare
	@$(MAKE) --no-print-directory -j2 test-browser test-others
	cd test/s3 && FANFARE_TEST_PROGRAM=$(CURDIR)/bin/fanfare-test $(GOTEST) -timeout 20m ./...
	cd web && npm run --silent test

test-browser test-others: export FANFARE_TEST_PROGRAM := $(CURDIR)/bin/fanfare-test

.PHONY: test-browser
test-browser:
	$(GOTEST) -timeout 45m ./test/browser

.PHONY: test-others
test-others:
	nice -n 10 env $(GOTEST) -p 2 -timeout 45m $(LONG) $$($(GO) list ./... | grep -vE '/($(RACED)|test/browser)$$')

.PHONY: browser
browser: setup web ## Run only the tests of the console in a real browser
	$(GOTEST) -count=1 -timeout 30m -v ./test/browser

.PHONY: race
race: setup web ## Run all tests with the race detector
	$(GOTEST) -race -timeout 40m ./...

.PHONY: drill
drill: setup web ## Run the long forms of the drills
	FANFARE_DRILL=full $(GO) test -count=1 -timeout 3h -run 'Drill|TestEngine' -v ./...
	$(GO) run ./bench -drill

.PHONY: bench
bench: setup web ## Measure speed as ratios in one run (PEERS=1 adds other products)
	$(GO) run ./bench

.PHONY: fuzz
fuzz: ## Run each fuzz target for a minute
	@sh scripts/fuzz.sh

.PHONY: lint
lint: web ## Run the linters of both languages and check the module files
	$(TOOL) golangci-lint run ./...
	$(GO) mod tidy -diff
	cd test/s3 && $(GO) mod tidy -diff
	cd web && npm run --silent check

.PHONY: fmt
fmt: ## Format the code
	$(TOOL) golangci-lint fmt

.PHONY: contract
contract: web ## Check the contract, generate clients from it and compare it with the last tag
	@sh scripts/setup.sh contract
	$(GO) test -count=1 -run 'Contract' ./internal/httpapi
	$(GO) test -count=1 -tags contract -timeout 20m -v ./test/clients
	@sh scripts/contract.sh

.PHONY: golden
golden: ## Rewrite golden files and schema dumps
	$(GO) test -count=1 ./internal/store ./test/scenario ./internal/creative/policy ./internal/creative/picture ./internal/llm/provider ./internal/ingest -args -update

.PHONY: check
check: lint test race contract ## Run the linters, all tests (also with the race detector) and the contract checks

.PHONY: fresh
fresh: ## Test `make run` and `make test` on empty Debian 12 and 13 (needs root)
	@bash scripts/fresh.sh

.PHONY: clean
clean: ## Remove the built programs
	rm -rf bin
