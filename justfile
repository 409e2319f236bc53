# Shortcuts. Each recipe is a line that also works by itself.

# What CI runs
test:
    bash .ci/run

# Under a minute when warm: formatting, lints, the laws of every geometry, golden values
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    cargo test -p geowalk --test laws --test golden --locked --quiet

# The Python package, built into .venv/, and its tests; arguments go to pytest
test-python *args:
    bash scripts/test-python {{args}}

# The reference documentation of the crates
doc:
    RUSTDOCFLAGS="--html-in-header $PWD/crates/geowalk/katex-header.html" cargo doc --workspace --no-deps --locked

# Advisories, licences and sources of the dependencies (cargo install cargo-deny)
deny:
    cargo deny check

# Speed beside other systems; ten minutes on an idle machine
bench *args:
    scripts/bench {{args}}

# Instructions per feature of every walk and reader, beside the kept ones
instructions:
    scripts/instructions --check

# Does a change break users of the crate? (cargo install cargo-semver-checks; needs a published version)
semver:
    cargo semver-checks -p geowalk
