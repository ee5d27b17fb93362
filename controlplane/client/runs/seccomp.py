"""Build the seccomp filter of a contained command: refuse what namespaces and mounts do not cover.

The filter refuses with EPERM rather than kill, so that programs which only try go on. Numbers are those of
the kernel's tables for x86_64 and aarch64; on another machine nothing is contained.
"""

from __future__ import annotations

import struct

BLOCKED_CALLS = {
    # (number on x86_64, number on aarch64)
    "ptrace": (101, 117),  # a stopped init of the namespace would never end
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "add_key": (248, 217),  # keyrings are not in any namespace
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "io_uring_setup": (425, 425),  # its operations do not pass this filter
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),  # opens by inode number, past every mount
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "acct": (163, 89),
    "quotactl": (179, 60),
}
AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
SOCKET_CALLS = {"x86_64": 41, "aarch64": 198}
IOCTL_CALLS = {"x86_64": 16, "aarch64": 29}
# A socket file can be connected to on a read-only mount, and vsock leaves every network namespace.
BLOCKED_FAMILIES = (1, 40)  # AF_UNIX, AF_VSOCK; socketpair() is another call and stays
BLOCKED_REQUESTS = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into a terminal

X32_BIT = 0x40000000
LOAD_WORD, JUMP_EQUAL, JUMP_GREATER_OR_EQUAL, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000 | 1, 0x80000000  # SECCOMP_RET_*; EPERM is 1
NUMBER_OFFSET, ARCHITECTURE_OFFSET, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24  # of struct seccomp_data


def build_seccomp_filter(machine: str) -> bytes:
    """Return the program as an array of `struct sock_filter`. Raise ValueError for an unknown machine."""
    column = list(AUDIT_ARCHITECTURES).index(machine)
    blocked = [numbers[column] for numbers in BLOCKED_CALLS.values()]
    families, requests = BLOCKED_FAMILIES, BLOCKED_REQUESTS
    # Jumps count instructions forward. The program ends with ALLOW, REFUSE, KILL.
    tail: list[tuple[int, int, int | str, int | str]] = [
        (JUMP_EQUAL, SOCKET_CALLS[machine], 0, 1 + len(families)),
        (LOAD_WORD, FIRST_ARGUMENT, 0, 0),
        *[(JUMP_EQUAL, family, "refuse", 0) for family in families],
        (JUMP_EQUAL, IOCTL_CALLS[machine], 0, 1 + len(requests)),
        (LOAD_WORD, SECOND_ARGUMENT, 0, 0),
        *[(JUMP_EQUAL, request, "refuse", 0) for request in requests],
        (RETURN, ALLOW, 0, 0),
        (RETURN, REFUSE, 0, 0),
        (RETURN, KILL, 0, 0),
    ]
    program: list[tuple[int, int, int | str, int | str]] = [
        (LOAD_WORD, ARCHITECTURE_OFFSET, 0, 0),
        (JUMP_EQUAL, AUDIT_ARCHITECTURES[machine], 0, "kill"),
        (LOAD_WORD, NUMBER_OFFSET, 0, 0),
        (JUMP_GREATER_OR_EQUAL, X32_BIT, "refuse", 0),
        *[(JUMP_EQUAL, number, "refuse", 0) for number in blocked],
        *tail,
    ]
    targets = {"refuse": len(program) - 2, "kill": len(program) - 1}
    return b"".join(
        struct.pack("=HBBI", code, _resolve(yes, index, targets), _resolve(no, index, targets), value)
        for index, (code, value, yes, no) in enumerate(program)
    )


def _resolve(jump: int | str, index: int, targets: dict[str, int]) -> int:
    return targets[jump] - index - 1 if isinstance(jump, str) else jump
