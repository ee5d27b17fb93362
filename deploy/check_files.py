"""Hold compose.yaml and the chart against the specification of Compose, Helm and the schemas of Kubernetes.

python deploy/check_files.py    (needs requirements/deploy.txt; no container engine, no cluster)
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import helm_python
import kubernetes_validate
import yaml
from compose_spec.models import ComposeSpecification

HERE = Path(__file__).resolve().parent
KUBERNETES = "1.31"
VALUES: dict[str, dict[str, Any]] = {
    "as it is": {},
    "with all of it": {
        "ingress": {
            "enabled": True,
            "className": "nginx",
            "tlsSecret": "icp-tls",
            "annotations": {"a/b": "c"},
        },
        "monitoring": {"enabled": True, "labels": {"release": "prometheus"}},
        "networkPolicy": {"enabled": True, "from": [{"namespaceSelector": {}}]},
        "env": {"ICP_PRIVATE_TARGETS": "10.1.0.0/16", "ICP_LOG_FORMAT": "line"},
        "retiredKeys": ["0123456789abcdef.pem"],
        "image": {"tag": "1.2.3", "pullSecrets": [{"name": "registry"}]},
        "nodeSelector": {"a": "b"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
    },
    "one process": {"replicas": 1, "migrate": False},
}
WRONG: tuple[dict[str, Any], ...] = (
    {"replica": 3},
    {"env": {"PORT": 1}},
    {"publicUrl": "icp.example.org"},
)
OPERATORS = "monitoring.coreos.com/"  # the Prometheus Operator's kinds are not of Kubernetes itself


def check_compose() -> None:
    text = (HERE.parent / "compose.yaml").read_text(encoding="utf-8")
    example = (HERE / "compose.env.example").read_text(encoding="utf-8")
    names = set(re.findall(r"^(\w+)=", example, re.MULTILINE))
    required = set(re.findall(r"\$\{(\w+):\?", text))
    if required - names:
        sys.exit(f"compose.env.example lacks {required - names}")
    expanded = re.sub(r"\$\{(\w+)[^}]*\}", "x", text)
    document = yaml.safe_load(expanded)
    ComposeSpecification.model_validate(document)
    used = {name for service in document["services"].values() for name in service.get("networks", ())}
    if used != set(document["networks"]):
        sys.exit(f"networks of services {used}, of the file {set(document['networks'])}")


def check_chart() -> None:
    chart = helm_python.Chart.load(HERE / "chart")
    report = helm_python.lint(HERE / "chart", strict=True)
    if report["errors"]:
        sys.exit(f"the chart: {report['errors']}")
    for name, values in VALUES.items():
        for manifest in render(chart, values):
            print(f"{name}: {manifest['kind']} {manifest['metadata']['name']}")
            if not manifest["apiVersion"].startswith(OPERATORS):
                kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    for values in WRONG:
        try:
            chart.validate_schema(values)
        except helm_python.HelmError:
            continue
        sys.exit(f"the chart takes {values}")


def render(chart: Any, values: dict[str, Any]) -> list[dict[str, Any]]:
    chart.validate_schema(values)
    rendered = chart.render(values, name="acme", namespace="icp")
    return [manifest for text in rendered.values() for manifest in yaml.safe_load_all(text) if manifest]


if __name__ == "__main__":
    check_compose()
    check_chart()
