# The two commands a new user needs are `make run` and `make test`.

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
run: build ## Build and serve a demo workspace; prints a call to paste
	@exec bin/fanfare demo

.PHONY: web
web: ## Build the console and the API reference (needs Node 20 or newer)
	@sh scripts/web.sh

# SQLite is compiled once and takes a core for two minutes; it is done beside
# what else comes first, and waited for.
SQLITE := $(GO) build github.com/mattn/go-sqlite3 & sqlite=$$!;

.PHONY: build
build: toolchain ## Build bin/fanfare
	@$(SQLITE) sh scripts/web.sh && wait $$sqlite
	@echo "Building bin/fanfare (the first build takes about two minutes)…" >&2
	@$(GO) build -ldflags '$(LDFLAGS)' -o bin/fanfare ./cmd/fanfare

.PHONY: toolchain
toolchain:
	@sh scripts/setup.sh toolchain

.PHONY: setup
setup: ## Install what the tests need (PostgreSQL, Chromium, Node, a C compiler)
	@sh scripts/setup.sh all

# Rooms in which goroutines meet and no database is linked: with one, building
# for the race detector takes longer than the tests. It is on everywhere in
# `make race`.
RACED := internal/(control|datadir|fresh|ingest|listen|outbound|platform/transport|sandbox/(ads|models)|seal)

# LONG are begun first, and more packages at once than there are cores, because
# some wait more than they work.
LONG := ./test/browser ./internal/httpapi ./test/guard ./cmd/fanfare ./test/scenario ./test/docs

# GORACE spares the second that every process would otherwise wait at its end,
# GOGC trades memory for time, and vet is one of the linters.
GOTEST := GORACE=atexit_sleep_ms=0 GOGC=400 $(GO) test -vet=off -ldflags='-s -w'

.PHONY: test
test: setup ## Everything, with short drills, on SQLite, DuckDB, PostgreSQL and Chromium
	@$(SQLITE) sh scripts/web.sh && $(GOTEST) -race -timeout 12m $$($(GO) list ./... | grep -E '/$(RACED)$$') && wait $$sqlite
	$(GO) build -tags testclock -ldflags='-s -w' -o bin/fanfare-test ./cmd/fanfare
	FANFARE_TEST_PROGRAM=$(CURDIR)/bin/fanfare-test $(GOTEST) -p 4 -timeout 20m $(LONG) $$($(GO) list ./... | grep -vE '/$(RACED)$$')
	cd web && npm run --silent test

.PHONY: browser
browser: setup web ## The stories in a real browser alone
	$(GOTEST) -count=1 -timeout 30m -v ./test/browser

.PHONY: race
race: setup web ## Everything, with the race detector on
	$(GOTEST) -race -timeout 40m ./...

.PHONY: drill
drill: setup web ## The long forms of the drills, with full counts
	FANFARE_DRILL=full $(GO) test -count=1 -timeout 3h -run 'Drill' -v ./...
	$(GO) run ./bench -drill

.PHONY: bench
bench: setup web ## Speed as ratios, side by side in one run (PEERS=1 adds other products)
	$(GO) run ./bench

.PHONY: fuzz
fuzz: ## Each fuzz target for a minute
	@sh scripts/fuzz.sh

.PHONY: lint
lint: web ## The linters of both languages, and the module files
	$(TOOL) golangci-lint run ./...
	$(GO) mod tidy -diff
	cd web && npm run --silent check

.PHONY: fmt
fmt: ## Format the code
	$(TOOL) golangci-lint fmt

.PHONY: contract
contract: ## Check the contract, and that it breaks nothing since the last tag
	$(GO) test -count=1 -run 'Contract' ./internal/httpapi
	@sh scripts/contract.sh

.PHONY: golden
golden: ## Rewrite golden files and schema dumps
	$(GO) test -count=1 ./internal/store ./test/scenario ./internal/composer ./internal/creative ./internal/picture ./internal/provider ./internal/ingest -args -update

.PHONY: check
check: lint test race contract ## What CI runs, the race detector everywhere, and the linters

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin
