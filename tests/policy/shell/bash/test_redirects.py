"""Redirects and here-documents whose tree is not as expected."""

from __future__ import annotations

import pytest

from controlplane.policy.shell.bash import redirects
from controlplane.policy.shell.result import UnclearCommandError
from tests.policy.shell.trees import STATE, WALKER, leaf


def test_a_redirect_needs_a_target():
    node = leaf("file_redirect", named=True)
    node.children = [leaf(">")]
    node.children_by_field_name = lambda _name: []
    with pytest.raises(UnclearCommandError):
        redirects.open_redirect(WALKER, node, STATE)


def test_a_here_document_needs_a_body():
    node = leaf("heredoc_redirect", named=True)
    node.children = [leaf("<<"), leaf("heredoc_start", named=True)]
    with pytest.raises(UnclearCommandError):
        redirects.open_redirect(WALKER, node, STATE)


def test_the_line_of_a_here_document_is_a_closed_list():
    with pytest.raises(UnclearCommandError):
        redirects._read_line(WALKER, [leaf("<<"), leaf(";")], STATE)
