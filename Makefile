# The fuzz targets are found by listing them, so a new one needs no change here.
FUZZTIME ?= 30s
CONFIG   ?= config.yaml

.PHONY: picture build test race browser lint fuzz soak bench run ci

# Without cgo the binary is static and runs in an empty container.
build:
	CGO_ENABLED=0 go build -trimpath -o lastword .

test:
	go test ./...

race:
	go test -race -timeout 20m ./...

# Needs Chromium. LASTWORD_SHOTS=/some/folder keeps the screenshots.
browser:
	go test -tags browser -run '^TestBrowser' -timeout 15m .

lint:
	go vet ./...
	golangci-lint run

# Minimizing is kept short: by default it takes up to a minute for each new
# input, which is most of a short run.
fuzz:
	@set -e; for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "== $$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$package; \
		done; \
	done

# It takes about two minutes and ends with a failure if a count is too high:
# commits, allocations, bytes. Times are for you to judge.
# Hours of talk in thousands of worlds. SEED begins somewhere else.
SEEDS ?= 2000
SEED  ?= 1
soak:
	go test ./conversation -timeout 0 -run 'TestSimulation$$' -seeds $(SEEDS) -seed $(SEED)
	go test ./conversation -timeout 0 -run TestRandomWalk -walks $(SEEDS) -walk-seed $(SEED)
	go test ./conversation -timeout 0 -run 'TestEveryInterleaving|TestCheckerFindsMutants' -checker-deep

bench:
	@go test -run '^$$' -bench . ./... 2>&1 | awk -f .ci/bench.awk

# docs/burst.svg, from a run.
picture:
	go test -count 1 -tags picture -run '^TestPicture$$' .

run:
	go run . --config $(CONFIG)

ci:
	.ci/run
