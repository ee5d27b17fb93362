"""A scripted agent of the Agent Client Protocol: it asks its client for what its prompt says, in turn.

The last text of a prompt is JSON: a list of [method, params]. Each is sent, a request waits for its answer; the
answers are returned with the end of the turn. What it was told itself is there as `told`.
"""

from __future__ import annotations

import json
import sys

MODES = {
    "currentModeId": "yolo",
    "availableModes": [{"id": "yolo", "name": "Yolo"}, {"id": "default", "name": "Ask"}],
}
told: list[dict] = []


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def read():
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    message = json.loads(line)
    told.append(message)
    return message


def ask(number, method, params):
    if method == "session/update":
        return send({"method": method, "params": params})
    send({"id": f"agent-{number}", "method": method, "params": params})
    while (message := read()).get("id") != f"agent-{number}":
        pass
    return message.get("result") or message.get("error")


def answer(message):
    params = message.get("params") or {}
    if message["method"] == "initialize":
        return {"protocolVersion": 1, "agentInfo": {"name": "scripted", "version": "1"}}
    if message["method"] == "session/new":
        return {"sessionId": params["cwd"].rpartition("/")[2] + "-acp", "modes": MODES}
    if message["method"] != "session/prompt":
        return {}
    steps = json.loads(params["prompt"][-1]["text"])
    answers = [
        ask(number, method, {"sessionId": params["sessionId"], **more})
        for number, (method, more) in enumerate(steps)
    ]
    return {"stopReason": "end_turn", "_meta": {"answers": answers, "told": told}}


while True:
    request = read()
    if "method" in request and "id" in request:
        send({"id": request["id"], "result": answer(request)})
