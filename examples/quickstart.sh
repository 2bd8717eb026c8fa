#!/usr/bin/env bash
# Installs, builds and compares a real pair of dumps: a transformer encoder whose target had another eps in one LayerNorm.
set -eu
cd "$(dirname "$0")/.."

third_party/install.sh --build-only
[ -f build/release/build.ninja ] || cmake --preset release >/dev/null
echo "build: the first one takes some minutes"
cmake --build --preset release --target msprobe verl custom >build/quickstart.log || { cat build/quickstart.log; exit 1; }
mkdir -p examples/out
build/release/bin/msprobe compare -r examples/data/enc_eps/reference -t examples/data/enc_eps/target -m veRL \
  -o examples/out/report.html --exit-zero
