"""The intent map over REST."""

from __future__ import annotations

import pytest

from tests import builders
from tests.traces.api.samples import entry

pytestmark = pytest.mark.django_db


def test_the_intent_map_in_the_exact_form(agent, acme):
    builders.intent(acme, "INT-001", name="Build Weather API")
    agent.post(
        "traces",
        [
            entry("a", "src/routes.ts", mutation_class="INTENT_EVOLUTION"),
            entry("b", "src/api.ts", mutation_class="INTENT_EVOLUTION"),
            entry("c", "src/api.ts", mutation_class="INTENT_EVOLUTION"),
            entry("d", "src/x.ts", mutation_class="AST_REFACTOR"),
            entry("e", "src/y.ts", "INT-WEATHER", mutation_class="INTENT_EVOLUTION"),
        ],
    )
    answer = agent.get("intent-map", format="markdown")
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer.content.decode() == (
        "# Intent Map\n\nMaps business intents to files. Updated when INTENT_EVOLUTION occurs.\n"
        "\n## INT-001: Build Weather API\n\n- `src/api.ts`\n- `src/routes.ts`\n"
        "\n## INT-WEATHER\n\n- `src/y.ts`\n"
    )
    assert agent.get("intent-map").content == answer.content
    assert agent.get("intent-map", format="json").json() == {
        "intents": [
            {
                "intent_id": "INT-001",
                "name": "Build Weather API",
                "files": ["src/api.ts", "src/routes.ts"],
                "symbols": {},
            },
            {"intent_id": "INT-WEATHER", "name": "", "files": ["src/y.ts"], "symbols": {}},
        ]
    }
    assert agent.get("intent-map", format="yaml").status_code == 400
