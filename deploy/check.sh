#!/usr/bin/env bash
# Hold the deployment files against the tools that read them (`make check-deploy` installs those of Python).
# What a machine lacks is named at the end; with CI set it is a failure, but for promtool, caddy and systemd-analyze.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${1:?the folder of hadolint and python with requirements/deploy.txt}
missing=()

say() { printf '== %s\n' "$*"; }
# optional PROGRAM: whether it is here; else it is named at the end.
optional() { command -v "$1" >/dev/null || { missing+=("$1"); return 1; }; }

say "hadolint: Containerfile"
"$bin/hadolint" Containerfile

say "Compose's specification, Helm and the schemas of Kubernetes: compose.yaml, deploy/chart"
"$bin/python" deploy/check_files.py

if optional promtool; then
  say "promtool: alerts, and what fires them"
  promtool check rules deploy/prometheus/alerts.yaml
  promtool test rules deploy/prometheus/alerts.test.yaml
fi
if optional caddy; then
  say "caddy: Caddyfile"
  ICP_HOST=icp.example.org caddy validate --adapter caddyfile --config deploy/Caddyfile >/dev/null
fi
if optional systemd-analyze; then
  say "systemd-analyze: units"
  units=$(mktemp -d)
  trap 'rm -r "$units"' EXIT
  # The units name a user and a program that this machine does not have; what else is wrong is printed.
  for unit in deploy/systemd/*.service; do
    sed -e '/^User=/d; /^Group=/d' -e 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' -e '/^Documentation=/d' "$unit" >"$units/$(basename "$unit")"
  done
  SYSTEMD_UNIT_PATH="$units:" systemd-analyze verify --man=no "$units/intent-control-plane@8000.service" "$units"/*migrate.service 2>&1 |
    tee "$units/found"
  test ! -s "$units/found"
fi
if [ ${#missing[@]} -gt 0 ]; then echo "left out, not installed: ${missing[*]}"; fi
