#!/usr/bin/env bash
# Tests of the HTML report in a real browser: tests/page/run.sh [folder of the built programs]
# Needs node and chromium; says so and returns 77 (skipped) where one is missing.
set -eu
cd "$(dirname "$0")"
bin=$(cd "${1:-../../build/release/bin}" && pwd)
browser=${MSPROBE_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
for need in node npm; do
  command -v "$need" >/dev/null || { echo "page tests skipped: $need is not installed"; exit 77; }
done
[ -n "$browser" ] || { echo "page tests skipped: chromium is not installed"; exit 77; }
[ -d node_modules/playwright-core ] || npm ci --no-audit --no-fund --silent

reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
for name in small equal empty single hostile 100000; do
  MSPROBE_SAMPLE=$name MSPROBE_SAMPLE_OUT=$reports/$name.html "$bin/test_report" --no-skip -tc="write a sample report" >/dev/null
done
MSPROBE_SAMPLE=small MSPROBE_SAMPLE_LANGUAGE=zh MSPROBE_SAMPLE_OUT=$reports/chinese.html \
  "$bin/test_report" --no-skip -tc="write a sample report" >/dev/null
MSPROBE_REPORTS=$reports MSPROBE_CHROMIUM=$browser node --test --test-concurrency=1 .
