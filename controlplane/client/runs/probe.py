"""Find out whether commands can be contained here, by doing it: a setting that says so may still not work."""

from __future__ import annotations

import os
import sys

from controlplane.client.runs.changes import list_changes
from controlplane.client.runs.containment import BUBBLEWRAP, ContainmentError, Setting, run_contained
from controlplane.client.runs.run_folder import STATE_DIR, make_folder, remove_folder, write_json
from controlplane.client.runs.seccomp import AUDIT_ARCHITECTURES
from controlplane.client.runs.view import prepare_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PROBE_SECONDS = 20
CAPABILITY_FILE = f"{STATE_DIR}/containment.json"
# What must be so inside: the hidden file does not exist, nothing outside can be opened for writing, no other
# namespace can be made, and what is changed arrives. Nothing is written even where a wall has a hole.
PROBE = (
    "test ! -e secret && ! (: >>/usr) 2>/dev/null && ! (: >>/etc/passwd) 2>/dev/null"
    " && ! (: >>/proc/sys/kernel/core_pattern) 2>/dev/null && ! unshare -U true 2>/dev/null"
    " && echo x >changed && rm deleted"
)
INSTALL_HINT = "apt install bubblewrap"
# Settings that forbid what the walls are made of: file, the value that forbids, what to do.
FORBIDDING_SETTINGS = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
        "AppArmor forbids user namespaces: sysctl kernel.apparmor_restrict_unprivileged_userns=0 allows them",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone", "0",
        "user namespaces are off: sysctl kernel.unprivileged_userns_clone=1 switches them on",
    ),
    (
        "/proc/sys/user/max_user_namespaces", "0",
        "user namespaces are off: sysctl user.max_user_namespaces=10000 switches them on",
    ),
)  # fmt: skip


def probe_containment(landlock: str) -> dict[str, Any]:
    """Return `{"reason", "landlock"}` and store it for the hook; without a reason commands are contained.

    `landlock` is the path of icp_landlock.py.
    """
    make_folder(STATE_DIR)
    directory = make_folder(f"{STATE_DIR}/probe-{os.getpid()}")
    try:
        reason = find_obstacle(directory, landlock)
    except (OSError, ContainmentError) as problem:
        reason = str(problem)
    finally:
        remove_folder(directory)
    reason = ". ".join([reason, *find_hints()]) if reason else ""
    result = {"reason": reason, "landlock": read_landlock_abi()}
    write_json(CAPABILITY_FILE, result)
    return result


def find_hints() -> list[str]:
    """Return what on this machine stands in the way of namespaces and Landlock, and how to switch them on."""
    hints = [hint for path, value, hint in FORBIDDING_SETTINGS if read_setting(path) == value]
    if sys.platform == "linux" and not read_landlock_abi():
        hints.append("Landlock is off: the kernel's boot option `lsm=` has to name it")
    if os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv"):
        hints.append(
            "this is a container: it must be allowed to mount (docker run --privileged, or a machine)"
        )
    return hints


def read_setting(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def find_obstacle(directory: str, landlock: str) -> str:
    """Return why nothing can be contained; "" where it can. Raise ContainmentError or OSError likewise."""
    if sys.platform != "linux" or os.uname().machine not in AUDIT_ARCHITECTURES:
        return f"commands are contained on Linux with {' or '.join(AUDIT_ARCHITECTURES)} only"
    problem = find_bubblewrap_problem()
    if problem:
        return problem
    root = make_folder(f"{directory}/repository")
    for name in ("secret", "deleted"):
        with open(f"{root}/{name}", "w", encoding="ascii") as file:
            file.write(name)
    views = prepare_views(root, directory, make_folder(f"{directory}/session"), ["secret"])[:1]
    with open(f"{STATE_DIR}/empty", "wb"):
        pass
    temp = make_folder(f"{directory}/tmp")
    setting = Setting(views, root, temp, STATE_DIR, "none", PROBE_SECONDS, landlock)
    outcome = run_contained(["/bin/sh", "-c", PROBE], setting)
    kinds = {change.path: change.kind for change in list_changes(root, f"{directory}/upper", 0)}
    if outcome.status or kinds != {"changed": "created", "deleted": "deleted"}:
        return f"the walls do not hold here: status {outcome.status}, changes {kinds}"
    return ""


def find_bubblewrap_problem() -> str:
    """Return what is wrong with bubblewrap; "" where it is there and only root could have changed it."""
    try:
        status = os.stat(BUBBLEWRAP)
    except OSError:
        return f"bubblewrap is not installed ({INSTALL_HINT})"
    if status.st_uid != 0 or status.st_mode & 0o022:
        return f"{BUBBLEWRAP} could be changed by others than root"
    if status.st_mode & 0o4000:
        return f"{BUBBLEWRAP} is set-user-id: user namespaces are off on this machine"
    return ""


def read_landlock_abi() -> int:
    """Return the version of Landlock's interface; 0 where the kernel has none or it is off."""
    import ctypes

    if sys.platform != "linux":
        return 0
    return max(0, int(ctypes.CDLL(None).syscall(444, None, 0, 1)))
