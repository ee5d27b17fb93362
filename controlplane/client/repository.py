"""Find repositories and their work trees in git's files: starting git would cost 3 ms at every call."""

from __future__ import annotations

import os

GIT_DIR = "gitdir: "  # what a `.git` file begins with


def find_repository(path: str) -> str:
    """Return the top of the work tree that contains `path`, else `path`."""
    return next(
        (parent for parent in list_parents(path) if os.path.exists(f"{parent}/.git")), os.path.abspath(path)
    )


def list_parents(path: str) -> list[str]:
    """Return the directory and all its parents."""
    directories = [os.path.abspath(path)]
    while (parent := os.path.dirname(directories[-1])) != directories[-1]:
        directories.append(parent)
    return directories


def find_main_repository(top: str) -> str:
    """Return the real path by which a repository is known in all its work trees.

    That is the directory of its main work tree, or a bare repository itself. A `.git` file counts only if the
    repository lists that work tree, so that a file which an agent writes joins no repository.
    """
    link = f"{top}/.git"
    try:
        if os.path.isfile(link):
            git_dir = os.path.join(top, read_git_file(link)[len(GIT_DIR) :])
            common = os.path.realpath(os.path.join(git_dir, read_git_file(f"{git_dir}/commondir")))
            listed = os.path.realpath(os.path.join(git_dir, read_git_file(f"{git_dir}/gitdir")))
            is_inside = os.path.dirname(os.path.realpath(git_dir)) == os.path.join(common, "worktrees")
            if is_inside and listed == os.path.realpath(link):
                return os.path.dirname(common) if os.path.basename(common) == ".git" else common
    except OSError:
        pass  # a submodule, which has no `commondir`, or no link that git would follow
    return os.path.realpath(top)


def find_git_dir(top: str) -> str:
    """Return the directory with HEAD of this work tree. Raise OSError for an unreadable `.git` file."""
    link = f"{top}/.git"
    if os.path.isfile(link):
        return os.path.join(top, read_git_file(link)[len(GIT_DIR) :])
    return link


def read_revision(root: str) -> str:
    """Return HEAD's commit; "" before the first commit or without git."""
    try:
        git_dir = find_git_dir(root)
        head = read_git_file(f"{git_dir}/HEAD")
        if not head.startswith("ref: "):
            return head
        name = head[len("ref: ") :]
        common = git_dir
        if os.path.isfile(f"{git_dir}/commondir"):
            common = os.path.join(git_dir, read_git_file(f"{git_dir}/commondir"))
        if os.path.isfile(f"{common}/{name}"):
            return read_git_file(f"{common}/{name}")
        with open(f"{common}/packed-refs", encoding="utf-8") as packed:
            return next((line.split()[0] for line in packed if line.rstrip().endswith(f" {name}")), "")
    except OSError:
        return ""


def read_git_file(path: str) -> str:
    """Return the first line. Raise OSError, also for a file that is no text."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().strip()
    except ValueError as error:
        raise OSError(str(error)) from error
