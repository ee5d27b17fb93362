"""Restrict this process with Landlock and run a command: the innermost wall of a contained run.

    python3 -I -S icp_landlock.py DIRECTORY… -- PROGRAM ARGUMENT…

A process under Landlock cannot mount, so this comes after every namespace. Rules name inodes, so they hold
for links that lead out of a directory as well.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same numbers on every architecture
PATH_BENEATH = 1
SET_NO_NEW_PRIVILEGES = 38
# write_file, remove_dir, remove_file, make_{char,dir,reg,sock,fifo,block,sym}
WRITE_RIGHTS = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))
LATER_RIGHTS = ((2, 13), (3, 14), (5, 15))  # (ABI, bit): refer, truncate, ioctl_dev
FILE_RIGHTS = 1 << 1 | 1 << 14 | 1 << 15  # those that make sense for a file
MIN_ABI = 3  # below it truncate(2) is free everywhere
SCOPES_ABI, NETWORK_ABI = 6, 4
ALL_SCOPES = 3  # abstract sockets and signals
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx")


def restrict_writes(directories: list[str]) -> None:
    """Refuse this process and its children every write outside of the directories. Raise OSError."""
    abi = _call(CREATE_RULESET, None, 0, 1)
    if abi < MIN_ABI:
        raise OSError(f"Landlock {abi} is too old: {MIN_ABI} is needed")
    rights = WRITE_RIGHTS | sum(1 << bit for since, bit in LATER_RIGHTS if abi >= since)
    attributes = struct.pack("QQQ", rights, 0, ALL_SCOPES if abi >= SCOPES_ABI else 0)
    attributes = attributes[: 8 if abi < NETWORK_ABI else 16 if abi < SCOPES_ABI else 24]
    ruleset = _call(CREATE_RULESET, attributes, len(attributes), 0)
    rules = [(path, rights) for path in directories]
    rules += [(path, rights & FILE_RIGHTS) for path in DEVICES]
    for path, allowed in rules:
        if not os.path.exists(path):
            continue  # what is not there needs no right
        target = os.open(path, os.O_PATH | os.O_CLOEXEC)
        _call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", allowed, target), 0)
        os.close(target)
    if ctypes.CDLL(None, use_errno=True).prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError("no_new_privs cannot be set")
    _call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _call(number: int, *arguments: object) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    result = int(library.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def run_restricted(arguments: list[str]) -> None:
    """Restrict this process and become the command. Does not return."""
    separator = arguments.index("--")
    restrict_writes(arguments[:separator])
    command = arguments[separator + 1 :]
    os.execvp(command[0], command)


if __name__ == "__main__":
    run_restricted(sys.argv[1:])
