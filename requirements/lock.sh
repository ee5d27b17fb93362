#!/usr/bin/env bash
# Pin the *.in files with hashes (needs uv). A file repeats nothing of the files that it builds on, so that each package
# has one pin: base.txt, then ../requirements.txt, then dev.txt and bench.txt. Pins that still fit are kept.
set -euo pipefail
cd "$(dirname "$0")/.."

# lock OUTPUT INPUT [FILE that OUTPUT builds on] [reference to it, relative to OUTPUT]
lock() {
  local output=$1 input=$2 lower=${3-} reference=${4-} options=() pins
  pins=$(mktemp)
  if [ -n "$lower" ]; then
    cat requirements/base.txt "$lower" | sed -nE 's/^([A-Za-z0-9._-]+)(\[[^]]*\])?==([^ ;\]+).*/\1==\3/p' >"$pins"
    while read -r pin; do options+=(--no-emit-package "${pin%%==*}"); done <"$pins"
  fi
  uv pip compile "$input" --output-file "$output" --constraint "$pins" "${options[@]}" \
    --generate-hashes --universal --python-version 3.11 --no-header --no-annotate --quiet >/dev/null
  {
    echo "# Made from $input by \`make lock\`."
    if [ -n "$reference" ]; then echo "-r $reference"; fi
    cat "$output"
  } >"$pins"
  cat "$pins" >"$output"
  rm "$pins"
}

lock requirements/base.txt requirements/base.in
lock requirements.txt requirements/test.in requirements/base.txt requirements/base.txt
lock requirements/dev.txt requirements/dev.in requirements.txt ../requirements.txt
lock requirements/bench.txt requirements/bench.in requirements.txt ../requirements.txt
lock requirements/deploy.txt requirements/deploy.in requirements.txt ../requirements.txt
