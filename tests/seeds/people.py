"""People with a browser's cookies: they sign in, read pages, post forms and listen to pushes."""

from __future__ import annotations

import html
import json
import re
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from itertools import count

from websockets.sync.client import ClientConnection, connect

from tests.seeds.conftest import Shop

PASSWORD = "correct horse battery staple"
_CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_TAGS = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.DOTALL)
_numbers = count(1)


class Person:
    """A member of a workspace, signed in by the form as everybody is."""

    def __init__(self, shop: Shop, role: str, *options: str) -> None:
        self.shop, self.name = shop, f"{role}-{next(_numbers)}"
        shop.server.manage_with_input(f"{PASSWORD}\n", "add_member", shop.slug, self.name, role, *options)
        self._cookies = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._cookies))
        self.post("/login/", "/login/", username=self.name, password=PASSWORD)
        assert "sessionid" in {cookie.name for cookie in self._cookies}

    def open(self, path: str) -> tuple[int, str]:
        """Return status and source of a page; a relative path is one of the workspace."""
        return self._send(urllib.request.Request(self._address(path)))

    def read(self, path: str) -> str:
        """Return what the page says, without its markup."""
        status, source = self.open(path)
        assert status == 200, (path, status)
        return " ".join(html.unescape(_TAGS.sub("", source)).split())

    def post(self, page: str, path: str, **fields: str) -> tuple[int, str]:
        """Open a page and send its form to `path`, with the page's own token against forgery."""
        token = _CSRF.search(self.open(page)[1])
        assert token is not None, page
        data = urllib.parse.urlencode({"csrfmiddlewaretoken": token[1]} | fields).encode()
        request = urllib.request.Request(self._address(path), data)
        request.add_header("Referer", self._address(page))
        return self._send(request)

    def listen(self, origin: str = "") -> ClientConnection:
        """Open the workspace's socket as a page does; `origin` is the site that the page is from."""
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self._cookies)
        address = self.shop.server.url.replace("http", "ws", 1) + f"/ws/workspaces/{self.shop.slug}/"
        return connect(
            address, additional_headers={"Cookie": cookies, "Origin": origin or self.shop.server.url}
        )

    def _address(self, path: str) -> str:
        place = "" if path.startswith("/") else f"/w/{self.shop.slug}/"
        return f"{self.shop.server.url}{place}{path}"

    def _send(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=70) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


def wait_for(connection: ClientConnection, event: str) -> dict[str, object]:
    """Return the next push of this type; a socket that stays silent fails the test."""
    while True:
        message: dict[str, object] = json.loads(connection.recv(timeout=30))
        if message["type"] == event:
            return message
