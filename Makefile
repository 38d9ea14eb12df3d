# Tasks that take longer than the tests. `go test ./...` needs no make.

# Tries to break copse for ten minutes, and writes the results to docs/reliability.md.
soak:
	go run ./internal/test/soak -time 10m -page docs/reliability.md

# Fuzzes each target for a minute, two at a time on two CPUs: a quarter of an hour.
fuzz:
	go run ./internal/test/soak -fuzz 1m -page docs/reliability.md

# Measures copse and its alternatives, and writes docs/benchmarks.md.
bench:
	bench/peers/install
	go run ./bench -page docs

.PHONY: soak fuzz bench
