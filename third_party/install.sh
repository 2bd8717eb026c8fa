#!/usr/bin/env bash
# Installs what a fresh Debian 12 lacks to build and test msprobe. Needs root or sudo; safe to repeat; quiet when all is there.
# The list with reasons is third_party/README.md.
set -eu

build=(g++ cmake ninja-build pkg-config libboost-dev libboost-program-options-dev libboost-filesystem-dev libfmt-dev
       nlohmann-json3-dev rapidjson-dev libhwy-dev zlib1g-dev libssl-dev)
test=(doctest-dev clang xz-utils python3 python3-numpy python3-pytest python3-jsonschema chromium nodejs npm fonts-noto-cjk)
[ "${1:-}" = --build-only ] && test=()

missing=()
for package in "${build[@]}" "${test[@]}"; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' && continue
  # A program from elsewhere on PATH (node, npm, python3) serves as well as Debian's package.
  case $package in nodejs) command -v node >/dev/null && continue ;; npm) command -v npm >/dev/null && continue ;; esac
  missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "install: everything is there"
else
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "install: run as root, or install sudo; missing: ${missing[*]}" >&2; exit 1; }
    as_root=(sudo)
  fi
  echo "install: apt-get update"
  "${as_root[@]}" apt-get update -qq
  echo "install: ${missing[*]}"
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  echo "install: done"
fi
