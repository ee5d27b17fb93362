"""Prepare what a contained command sees: the repository, caches, temporary folder, hidden files."""

from __future__ import annotations

import os

from controlplane.client.runs.containment import ContainmentError, View
from controlplane.client.runs.ignore_rules import IgnoreRules, list_ignored
from controlplane.client.runs.run_folder import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Caches of package managers and compilers, below the home folder. What is written lasts for the session.
CACHE_FOLDERS = (
    ".cache", ".npm", ".yarn", ".bun", ".pnpm-store", ".local/share/pnpm", ".cargo/registry", ".cargo/git",
    "go/pkg", ".gradle", ".m2", ".nuget", ".dart_tool", ".pub-cache", ".hex", ".mix", ".gem", ".bundle",
)  # fmt: skip
WHITEOUT_MODE = 0o020000 | 0o600  # a character device 0/0 hides what lies below it


def prepare_views(root: str, run_directory: str, session: str, patterns: Sequence[str]) -> list[View]:
    """Make the layers of all views, the repository's first. Raise ContainmentError."""
    require_no_mounts(root)
    make_layer(run_directory, root)
    hide_files(root, f"{run_directory}/hide", patterns)
    outputs = make_folder(f"{session}/outputs")
    link(outputs, f"{run_directory}/outputs")
    views = [View(root, run_directory, ("hide", "outputs"))]
    home = os.path.expanduser("~")
    folders = [f"{home}/{name}" for name in CACHE_FOLDERS if os.path.isdir(f"{home}/{name}")]
    for number, directory in enumerate(folders):
        real = os.path.realpath(directory)
        if is_inside(real, root) or is_inside(root, real) or has_mounts(real):
            continue  # the repository lies in a cache folder, or the other way round
        layer = make_folder(f"{session}/places/{number}")
        make_layer(layer, real)
        views.append(View(real, layer, ()))
    return views


def make_layer(directory: str, lower: str) -> None:
    """Make the folders of one overlay. `lower` is a link, so that no path stands in mount options."""
    for name in ("upper", "work", "hide"):
        make_folder(f"{directory}/{name}")
    os.chmod(f"{directory}/upper", os.stat(lower).st_mode & 0o777)  # the mode of the view's own folder
    link(lower, f"{directory}/lower")


def link(target: str, path: str) -> None:
    if not os.path.islink(path):
        os.symlink(target, path)


def hide_files(root: str, hide_directory: str, patterns: Sequence[str]) -> None:
    """Put a whiteout over each file and folder that the patterns ignore."""
    for path in list_ignored(root, IgnoreRules(patterns)):
        mark = f"{hide_directory}/{path}"
        os.makedirs(os.path.dirname(mark), exist_ok=True)
        if not os.path.lexists(mark):
            os.mknod(mark, WHITEOUT_MODE, 0)
    for directory, _, _ in os.walk(hide_directory):
        # An upper folder decides about the mode of the merged one.
        below = os.path.join(root, os.path.relpath(directory, hide_directory))
        os.chmod(directory, os.stat(below).st_mode & 0o777)


def is_inside(path: str, directory: str) -> bool:
    return f"{path}/".startswith(f"{directory}/")


def require_no_mounts(root: str) -> None:
    """Raise ContainmentError where something is mounted in the repository: a view would not have it."""
    if has_mounts(root):
        raise ContainmentError(f"something is mounted below {root}")


def has_mounts(path: str) -> bool:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        points = [line.split(" ")[4] for line in file]
    return any(point != path and is_inside(decode_mount_point(point), path) for point in points)


def decode_mount_point(text: str) -> str:
    """Decode the octal escapes of /proc/self/mountinfo."""
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, sign)
    return text
