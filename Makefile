# Needs Go and make, nothing else, for `make run` and `make test`.
export GOTOOLCHAIN = go1.27.3

# Tools, by `go install`, into bin/tools; never from the network at a version of their own choosing.
GOLANGCI_LINT_VERSION = v2.15.0
GOVULNCHECK_VERSION   = v1.9.0
TOOLS                 = $(CURDIR)/bin/tools
GOLANGCI_LINT         = $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
GOVULNCHECK           = $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)

# Packages whose tests run under the race detector, and how long each fuzz target runs.
RACE     = $(wildcard internal/postgres internal/interaction internal/rest internal/cache internal/parameter internal/validation loadtest)
FUZZTIME = 20s

# make matrix
EXECUTOR = process
OUT      = out/matrix
RUNS     = 1

# make search-bench
SEARCH_TARGET = http://127.0.0.1:8080/fhir
SEARCH_SIZES  = 50000,500000
SEARCH_OUT    = out/search

# make sync-bench
SYNC_OUT   = out/sync
SYNC_FLAGS =

# make robustness
TRANSPORT  = notify
DURATION   = 10m
FAULTS_OUT = out/faults

.DEFAULT_GOAL = help
.PHONY: help build run test race bench benchmarks lint fuzz vuln conformance client-test matrix need-BUNDLES search-bench sync-bench robustness definitions-check clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the server and the load test into bin/
	@mkdir -p bin
	go build -o bin/ ./cmd/... ./loadtest

run: ## Build the server and run it at http://127.0.0.1:8080/fhir
	@mkdir -p bin
	go build -o bin/ ./cmd/fhir-server
	exec bin/fhir-server serve

test: ## Run every test (those that need Node, nginx or docker skip where these are absent)
	go test ./...

race: ## Run the tests of the concurrent packages under the race detector
	go test -race $(addsuffix /...,$(addprefix ./,$(RACE)))

bench: ## Measure what docs/performance.md states, and print the table
	go run ./internal/tools/bench

benchmarks: ## Run every Go benchmark
	go test -run '^$$' -bench . -benchmem ./...

lint: $(GOLANGCI_LINT) ## Check style, imports and doc comments
	$(GOLANGCI_LINT) run

fuzz: ## Run each fuzz target for FUZZTIME (20s)
	@go list -f '{{.Dir}}' ./... | while read -r dir; do \
	  grep -hos '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -c6- | while read -r target; do \
	    echo "fuzz: $$target in $${dir#$(CURDIR)/}"; \
	    go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$dir" </dev/null || exit 1; \
	  done || exit 1; \
	done

vuln: $(GOVULNCHECK) ## Look for known vulnerabilities in what the programs call
	$(GOVULNCHECK) ./...

conformance: ## Run the public suites in the folder CONFORMANCE_DATA (../shared/data) and print a count for each
	CONFORMANCE_DATA="$(abspath $(or $(CONFORMANCE_DATA),../shared/data))" go run ./internal/tools/conformance

client-test: ## Drive a server with the npm client fhir-kit-client (needs Node)
	go test -count=1 -v -run TestClient ./test/client

matrix: build ## Compare 1×8 to 8×1 instances × cores (QUICK=1, EXECUTOR=compose, OUT=dir, RUNS=n)
	bin/loadtest matrix $(if $(QUICK),--quick) --executor $(EXECUTOR) --out $(OUT) --runs $(RUNS) \
	  $(if $(IMAGES),--images $(IMAGES))

need-BUNDLES:
	@test -d "$(BUNDLES)" || { echo "make: BUNDLES has to be a folder of transaction Bundles (.json), one patient each, such as Synthea's: make search-bench BUNDLES=synthea/" >&2; exit 2; }

search-bench: need-BUNDLES build ## Search in 50,000 and 500,000 resources of the server at SEARCH_TARGET (BUNDLES=dir, PIDS=server=1,postgresql=2, RATE=requests a second)
	bin/loadtest search --target $(SEARCH_TARGET) --bundles "$(BUNDLES)" --sizes $(SEARCH_SIZES) --out $(SEARCH_OUT) \
	  $(if $(PIDS),--pids $(PIDS)) $(if $(RATE),--rate $(RATE))

sync-bench: build ## Measure what keeping caches in step costs, by transport and servers (QUICK=1, SYNC_OUT=dir, SYNC_FLAGS=…)
	bin/loadtest sync $(if $(QUICK),--quick) --out $(SYNC_OUT) $(SYNC_FLAGS)

robustness: build ## Lose a thousand connections of each transport, then put servers through faults for DURATION (10m) and check what they answered (TRANSPORT=notify, SEED=n)
	TEST_RECONNECTS=1000 go test -count=1 -run TestReconnections -v ./internal/postgres
	bin/loadtest sync --faults --lease 1s --transports $(TRANSPORT) --duration $(DURATION) --out $(FAULTS_OUT) $(if $(SEED),--seed $(SEED))

definitions-check: ## Rebuild the embedded definitions and units from their sources and compare
	go run ./internal/tools/definitions check
	go run ./internal/tools/ucum check

clean: ## Remove what was built
	rm -rf bin out

$(GOLANGCI_LINT):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)
	mv $(TOOLS)/golangci-lint $@

$(GOVULNCHECK):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	mv $(TOOLS)/govulncheck $@
