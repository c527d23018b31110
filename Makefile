# One line each; see README.md.
GO  ?= go
CC  ?= gcc
BIN := bin/racesim
# What make accuracy fetches and builds is kept here.
ACCURACY ?= /tmp/racesim-accuracy

# Where recording spends its time, for the compiler; make profile measures it anew.
PROFILE := $(CURDIR)/internal/bench/record.pgo

.PHONY: profile build demo test check bench bench-memory bench-recording accuracy sweep fuzz conform clean tools

build: $(BIN)

$(BIN): FORCE
	@mkdir -p bin
	$(GO) build -pgo=$(PROFILE) -o $(BIN) ./cmd/racesim

FORCE:

# Builds, records a real racy program, analyses it and shows the verdict. The
# exit status of analyze is 1: the gate fails, as it should.
demo: build tools
	@mkdir -p examples/bank/build
	$(CC) -g -O1 -pthread -o examples/bank/build/bank examples/bank/bank.c
	$(BIN) record -o examples/bank/build/bank.ttd -- examples/bank/build/bank
	$(BIN) replay examples/bank/build/bank.ttd
	$(BIN) analyze examples/bank/build/bank.ttd; test $$? -eq 1

test: tools
	$(GO) vet ./...
	$(GO) test -timeout 20m ./...

# What a change must pass before it is committed.
check: tools
	test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) test -short ./...

# Guest programs are compiled at test time.
tools:
	@command -v $(CC) >/dev/null || { echo "$(CC) is missing; on Debian: apt-get install gcc g++"; exit 1; }
	@command -v g++ >/dev/null || { echo "g++ is missing; on Debian: apt-get install g++"; exit 1; }

bench: build
	$(GO) run ./internal/bench

profile:
	$(GO) run ./internal/bench -profile $(PROFILE)

# Peak memory of recording and analysing programs with so many accesses to
# shared memory; about an hour.
ACCESSES ?= 1000000000
bench-memory: build
	$(GO) run ./internal/bench -memory $(ACCESSES)

# Every mode of recording side by side; see docs/recording.md. A few minutes.
bench-recording: build
	$(GO) run ./internal/benchrec -page docs/recording.md

# racesim, ThreadSanitizer, Helgrind and DRD on labelled programs; see docs/accuracy.md.
accuracy: build tools
	$(GO) run ./internal/accuracy -dir $(ACCURACY)

# Real programs of Debian, natively and recorded; see docs/programs.md. What isn't installed is left out, unless
# SWEEP=-install.
sweep: build
	$(GO) run ./internal/sweep -page docs/programs.md $(SWEEP)

# How often verdicts are right, of labelled programs in several builds, and from that the weights of confidence;
# see docs/confidence.md. calibrate-fit takes the verdicts as they were measured.
calibrate: tools
	$(GO) run ./internal/calibrate -measure -valgrind $(ACCURACY)/source/root

calibrate-fit:
	$(GO) run ./internal/calibrate

# How often models call instances of real programs abnormal that they haven't seen; see docs/models.md.
calibrate-models:
	$(GO) test -run ModelsAreCalibratedOnReal -timeout 60m -v . -calibrate-models

conform:
	RACESIM_CONFORM=2000 RACESIM_CONFORM_PAGE=$(CURDIR)/docs/instructions.md RACESIM_CONFORM_SEQ=200000 RACESIM_CONFORM_BYTES=1000000 \
		$(GO) test -run MatchProcessor -timeout 60m -v ./emulate/x86

fuzz:
	$(GO) test -run XXX -fuzz FuzzOpen -fuzztime 60s ./traces
	$(GO) test -run XXX -fuzz FuzzPackets -fuzztime 60s ./traces
	$(GO) test -run XXX -fuzz FuzzIndex -fuzztime 60s ./traces
	RACESIM_DAMAGE=3000 $(GO) test -run WrongPackets -timeout 60m .
	$(GO) test -run XXX -fuzz FuzzReadModel -fuzztime 60s .

clean:
	rm -rf bin examples/*/build
