"""Plays an editor of the Agent Client Protocol, over the pipes of the program that it starts as its agent."""

from __future__ import annotations

import json
import queue
import subprocess
import threading

SECONDS = 120


class Editor:
    """`asked` are the agent's requests; each is answered as `answers` says, by a value or a function, or left open."""

    def __init__(self, command, repository, env):
        self.asked, self.notes, self.results, self.answers = [], [], queue.Queue(), {}
        self.repository, self.count, self.session = repository, 0, ""
        self.process = subprocess.Popen(
            command, cwd=repository, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" not in message:
                self.results.put(message)
            elif "id" not in message:
                self.notes.append(message)
            else:
                self.asked.append(message)
                self.answer(message)

    def answer(self, message):
        answer = self.answers.get(message["method"])
        if callable(answer):
            answer = answer(message["params"])
        if answer is not None:
            self.send({"id": message["id"], "result": answer})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def request(self, method, **params):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        return self.results.get(timeout=SECONDS)

    def open(self, **capabilities):
        self.request("initialize", protocolVersion=1, clientCapabilities=capabilities)
        opened = self.request("session/new", cwd=str(self.repository), mcpServers=[])
        assert "result" in opened, opened
        self.session = opened["result"]["sessionId"]
        return opened["result"]

    def prompt(self, text):
        """Return the result of a turn."""
        blocks = [{"type": "text", "text": text}]
        answer = self.request("session/prompt", sessionId=self.session, prompt=blocks)
        assert "result" in answer, answer
        return answer["result"]

    def close(self):
        self.process.stdin.close()
        return self.process.wait(SECONDS)
