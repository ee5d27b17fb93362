"""Find the directory that a call's paths are relative to: its session's root, or another work tree of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from controlplane.client.repository import find_main_repository, find_repository


@dataclass(frozen=True, slots=True)
class CallRoot:
    """`root` as the agent spells it, None where it sent none; `disk` is the same on this machine, or ""."""

    root: str | None
    disk: str
    is_wrong: bool = False  # an existing directory that belongs to something else than the workspace


@dataclass(frozen=True, slots=True)
class ClaimedRoot:
    """A root and its repository, as the hook client sends them."""

    root: str = ""
    repository: str = ""


def resolve_call_root(session: ClaimedRoot, call: ClaimedRoot, local_root: str) -> CallRoot:
    """Return the root of a call.

    A call cannot move its session (CVE-2025-59532), but to another work tree of the same repository, as only
    the hook client names it. Where the workspace is on this machine, the disk decides.
    """
    is_sibling = bool(call.repository) and call.repository == session.repository
    root = call.root if call.root and is_sibling else session.root
    if not root:
        return CallRoot(local_root or None, local_root)
    if not local_root or root == local_root:
        return CallRoot(root, local_root)
    try:
        exists = Path(root).is_absolute() and Path(root).is_dir()
    except (OSError, ValueError):
        exists = False
    return _find_on_disk(root, local_root) if exists else CallRoot(root, local_root)


def _find_on_disk(root: str, local_root: str) -> CallRoot:
    """Locate an existing directory: in the workspace, in another work tree of it, or elsewhere."""
    real, local = os.path.realpath(root), os.path.realpath(local_root)
    top, local_top = find_repository(real), find_repository(local)
    if top != local_top and find_main_repository(top) == find_main_repository(local_top):
        tree = os.path.normpath(f"{top}/{os.path.relpath(local, local_top)}")
    elif top == local_top or f"{real}/".startswith(f"{local}/"):
        tree = local
    else:
        return CallRoot(local_root, local_root, is_wrong=True)
    return CallRoot(_spell(tree, root, real), tree)


def _spell(tree: str, root: str, real: str) -> str:
    """Return a parent of `real` as the agent spells it, who may have come through a symlink."""
    if tree == real:
        return root
    below = real[len(tree) :] if real.startswith(f"{tree}/") else ""
    return root[: -len(below)] if below and root.endswith(below) else tree
