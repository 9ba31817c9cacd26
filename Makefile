# make demo    the main job on an emulated path, in at most three minutes
# make test    every test
# make help    everything else

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  = -s -w -X github.com/wirerate/wirerate/internal/cli.Version=$(VERSION)
BUILD    = CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)'
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.7.0
GOVULNCHECK = golang.org/x/vuln/cmd/govulncheck@v1.1.4

.PHONY: help install build demo test ansible live bench check vuln generate tools dist release release-check fuzz kernels clean

help:
	@echo 'build     bin/wirerate and its manual pages, bin/man'
	@echo 'demo      tune an emulated 1 Gbit/s, 50 ms path; the report is out/report.html'
	@echo 'test      every test'
	@echo 'ansible   the collection: ansible-lint, rollouts on twelve hosts, the controller killed KILLS (3) times'
	@echo 'live      everything on this very host and back again: LIVE=--yes, since settings change for minutes'
	@echo 'bench     speed and accuracy, as ratios in one run'
	@echo 'check     gofmt, vet for three systems, staticcheck, go.mod and go.sum, import table, lengths, seeds, generated files'
	@echo 'vuln      known vulnerabilities in what is linked (needs vuln.go.dev)'
	@echo 'fuzz      every fuzz target for FUZZTIME (10s)'
	@echo 'kernels   the catalog against Debian kernels under QEMU, or against DUMP=FILE or ssh://HOST'
	@echo 'dist      static binaries of linux, freebsd and openbsd, manual pages and licences, in dist/'
	@echo 'install   what build made, and completions, below PREFIX (/usr/local)'
	@echo 'release   archives, packages, bill of materials, checksums, in dist/release (empty before)'
	@echo 'tools     install the programs that demo, test and bench drive'

build:
	$(BUILD) -o bin/wirerate ./cmd/wirerate
	$(GO) run -ldflags '$(LDFLAGS)' ./tools/gendocs -man -o bin/man

# Only copies: under sudo there is often no Go, and what it built would be root's.
PREFIX ?= /usr/local
install:
	@[ -x bin/wirerate ] && [ -d bin/man ] || { echo 'make build first, without sudo'; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
		$(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 bin/wirerate $(DESTDIR)$(PREFIX)/bin/wirerate
	install -m 644 bin/man/* $(DESTDIR)$(PREFIX)/share/man/man1/
	bin/wirerate completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/wirerate
	bin/wirerate completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_wirerate
	bin/wirerate completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/wirerate.fish

demo: tools build
	bin/wirerate tune --lab rate=1gbit,rtt=50ms --role bulk --for 150s -o out/

test: tools
	$(GO) test -timeout 40m ./...

# What takes minutes, and programs that only this needs.
KILLS ?= 3
ansible: tools
	@sh tools/install.sh ansible
	WIRERATE_ROLLOUT=$(KILLS) $(GO) test -count=1 -v -timeout 180m ./contrib/ansible

# On a BSD, by gmake. Options and a host are given as LIVE="--yes --keep FOLDER ssh://root@HOST".
live: build
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/kernels ./tools/kernels
	sh tools/live.sh $(LIVE)

bench: tools build
	$(GO) run ./tools/bench bin/wirerate
	$(GO) test -run '^$$' -bench . -benchtime 1s ./internal/... ./cmd/...

check:
	@out=$$(gofmt -l cmd contrib internal tools catalog); if [ -n "$$out" ]; then echo "gofmt: $$out"; exit 1; fi
	@for os in linux freebsd openbsd; do echo "vet $$os"; GOOS=$$os $(GO) vet ./... || exit 1; done
	$(GO) run $(STATICCHECK) ./...
	$(GO) mod verify
	$(GO) mod tidy -diff
	$(GO) test -count=1 ./tools/...

vuln:
	@GO='$(GO)' sh tools/vuln.sh $(GOVULNCHECK)

generate:
	$(GO) generate ./...

tools:
	@sh tools/install.sh

dist:
	@for os in linux freebsd openbsd; do for arch in amd64 arm64; do \
		echo "dist/wirerate-$$os-$$arch"; \
		GOOS=$$os GOARCH=$$arch $(BUILD) -o dist/wirerate-$$os-$$arch ./cmd/wirerate || exit 1; \
	done; done
	@echo dist/LICENSES
	@cp LICENSE dist/ && gzip -dc internal/cli/licenses.txt.gz >dist/LICENSES
	@echo dist/man
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || echo 0) $(GO) run -ldflags '$(LDFLAGS)' ./tools/gendocs -man -o dist/man

# The archives, packages, bill of materials and checksums of a release.
release:
	GO='$(GO)' sh tools/release/release.sh dist/release

# Two releases of the same commit are the same; the deb is installed, used, removed.
release-check:
	WIRERATE_RELEASE=1 $(GO) test -count=1 -v -timeout 60m ./tools/release

FUZZTIME ?= 10s
fuzz:
	@for pkg in $$($(GO) list ./...); do for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
		echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg || exit 1; \
	done; done

KERNELS ?= /tmp/wirerate-kernels
kernels:
ifdef DUMP
	$(GO) run ./tools/kernels $(WRITE) $(DUMP)
else
	$(GO) run ./tools/kernels -ranges >ranges.json
	sh tools/kernels/boot.sh $(KERNELS) ranges.json
	rm ranges.json
	$(GO) run ./tools/kernels -write $(KERNELS)/dumps/*.jsonl
endif

clean:
	rm -rf bin dist out .venv
