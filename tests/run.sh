#!/usr/bin/env bash
# Installs what is missing, builds the preset `release` and runs every test. The first words of an error say which step failed.
set -eu
cd "$(dirname "$0")/.."

third_party/install.sh
[ -f build/release/build.ninja ] || cmake --preset release
cmake --build --preset release
ctest --test-dir build/release --output-on-failure -j "$(nproc)" "$@"
