"""Start a command behind the walls: user namespace, overlays, bubblewrap, seccomp, Landlock.

Two layers of namespaces: the outer one may mount, holds the overlays and runs nothing of the command;
bubblewrap makes the inner one, without capabilities and without the right to make another. The order matters:
what is bound later covers what was bound before.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections import namedtuple

from controlplane.client.runs.seccomp import build_seccomp_filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BUBBLEWRAP = "/usr/bin/bwrap"
# Folders and files of the user that no command sees, relative to the home folder.
SECRET_FOLDERS = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/icp",
    ".config/op", ".local/share/keyrings", ".local/state/icp", ".mozilla", ".config/google-chrome",
    ".config/chromium", ".claude", ".codex", ".gemini", ".qwen", ".copilot", ".cursor", ".config/opencode",
    ".local/share/opencode",
)  # fmt: skip
SECRET_FILES = (
    ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials", ".pgpass", ".my.cnf",
    ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".claude.json",
)  # fmt: skip
# Writing here reaches the whole machine; bubblewrap 0.8 leaves these folders writable for root.
KERNEL_FOLDERS = ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger")
PRIVATE_FOLDERS = ("/sys", "/run", "/var/tmp", "/mnt", "/media")
ENVIRONMENT = (
    "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TZ", "USER", "VIRTUAL_ENV", "CI",
    "GOPATH", "GOROOT", "GOFLAGS", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME",
    "ANDROID_HOME", "NVM_DIR", "NODE_ENV", "PYENV_ROOT", "PYTHONPATH", "NO_COLOR", "FORCE_COLOR", "COLUMNS",
    "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
)  # fmt: skip
CLONE_NEWNS, CLONE_NEWUSER, MS_REC, MS_PRIVATE = 0x00020000, 0x10000000, 0x4000, 1 << 18
INNER_ID = "1000"
SIGKILL = 9  # importing `signal` takes longer than all of this module
SETUP_FAILED = 97  # exit status of a child that could not build the walls

# A folder of the disk seen copy-on-write: `layer` has the folders upper and work, `above` lies over `path`.
View = namedtuple("View", "path layer above")  # noqa: PYI024  importing typing takes 5 ms
# What a command runs in. `network` is "none" or "open", `seconds` its deadline, `landlock` the inner program.
Setting = namedtuple("Setting", "views cwd temp state network seconds landlock")  # noqa: PYI024
Outcome = namedtuple("Outcome", "status seconds timed_out")  # noqa: PYI024


class ContainmentError(Exception):
    """The command cannot be contained here; nothing was run."""


def run_contained(command: Sequence[str], setting: Setting) -> Outcome:
    """Run the command and wait for it; its output goes where ours goes. Raise ContainmentError."""
    started = time.monotonic()
    report_end, write_end = os.pipe()  # bubblewrap writes {"child-pid": N} when it starts the command
    child = os.fork()
    if child == 0:
        os.close(report_end)
        _become_contained(command, setting, write_end)
    os.close(write_end)
    try:
        status, timed_out = _wait(child, started + setting.seconds)
    except BaseException:
        os.kill(child, SIGKILL)
        os.waitpid(child, 0)
        raise
    with os.fdopen(report_end, "rb") as reader:
        report = reader.read().decode(errors="replace")
    if '"child-pid"' not in report:
        raise ContainmentError(report or f"bubblewrap ended with status {status}")
    return Outcome(status, time.monotonic() - started, timed_out)


def _wait(child: int, deadline: float) -> tuple[int, bool]:
    """Return (exit status, whether the deadline ended it). A death by signal N is 128 + N, as in a shell."""
    ended = select.poll()
    descriptor = os.pidfd_open(child)
    try:
        ended.register(descriptor, select.POLLIN)
        timed_out = not ended.poll(max(0.0, deadline - time.monotonic()) * 1000)
    finally:
        os.close(descriptor)
    if timed_out:
        # The outermost process: with it end the namespaces and whatever runs in them, stopped or not.
        os.kill(child, SIGKILL)
    _, status = os.waitpid(child, 0)
    if timed_out:
        return 124, True
    code = os.waitstatus_to_exitcode(status)
    return (code if code >= 0 else 128 - code), False


def _become_contained(command: Sequence[str], setting: Setting, report_end: int) -> None:
    """Build the walls in this child process and become bubblewrap. Never returns."""
    try:
        os.setsid()  # no controlling terminal to type into
        _enter_namespace()
        for view in setting.views:
            _mount_overlay(view)
        filter_end = _open_filter()
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.set_inheritable(report_end, True)
        arguments = build_arguments(command, setting, filter_end, report_end)
        _close_others({0, 1, 2, filter_end, report_end})
        os.execve(BUBBLEWRAP, arguments, build_environment(setting))
    except BaseException as error:  # noqa: BLE001  this process must not run anything else
        os.write(report_end, f"{type(error).__name__}: {error}".encode())
        os._exit(SETUP_FAILED)


def _enter_namespace() -> None:
    """Enter a user and a mount namespace in which this user is root and mounts stay private."""
    import ctypes

    user, group = os.getuid(), os.getgid()
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "a user namespace cannot be made")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    if library.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        raise OSError(ctypes.get_errno(), "mounts cannot be made private")


def _mount_overlay(view: View) -> None:
    """Mount the view over its own path. Names are relative: no path has to be escaped in the options."""
    import ctypes

    os.chdir(view.layer)
    lower = ":".join([*view.above, "lower"])
    options = f"userxattr,lowerdir={lower},upperdir=upper,workdir=work"
    target = os.fsencode(view.path)
    library = ctypes.CDLL(None, use_errno=True)
    if library.mount(b"overlay", target, b"overlay", 0, options.encode()):
        number = ctypes.get_errno()
        raise OSError(number, f"{view.path} cannot be seen copy-on-write: {os.strerror(number)}")


def _open_filter() -> int:
    """Return a descriptor from which bubblewrap reads the seccomp filter."""
    descriptor = os.memfd_create("seccomp", 0)  # inherited on purpose
    os.write(descriptor, build_seccomp_filter(os.uname().machine))
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _close_others(open_descriptors: set[int]) -> None:
    """Close every descriptor that the client inherited: an open folder leads out of any mount namespace."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in open_descriptors:
            with contextlib.suppress(OSError):  # the descriptor of the listing itself
                os.close(int(name))


def build_environment(setting: Setting) -> dict[str, str]:
    """Return the variables of the command: an allow-list, for a token may have any name."""
    variables = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    variables |= {name: value for name, value in os.environ.items() if name.startswith("LC_")}
    variables.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    viewed = {view.path for view in setting.views}
    home = os.path.expanduser("~")
    # Programs that find no cache folder of theirs use the temporary one, which lasts for the session.
    for name, directory in (
        ("XDG_CACHE_HOME", ".cache"),
        ("npm_config_cache", ".npm"),
        ("GOMODCACHE", "go/pkg/mod"),
    ):
        if f"{home}/{directory}" not in viewed:
            variables[name] = f"/tmp/{directory.replace('/', '-').lstrip('.')}"
    return variables | {"TMPDIR": "/tmp", "ICP_CONTAINED": "1"}


def build_arguments(command: Sequence[str], setting: Setting, filter_end: int, report_end: int) -> list[str]:
    """Return the command line of bubblewrap."""
    home = os.path.expanduser("~")
    network = ["--unshare-net"] if setting.network == "none" else []
    arguments = [
        BUBBLEWRAP, "--unshare-user", "--uid", INNER_ID, "--gid", INNER_ID, "--disable-userns",
        "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", *network,
        "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--json-status-fd", str(report_end),
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
    ]  # fmt: skip
    arguments += _pairs("--ro-bind", [path for path in KERNEL_FOLDERS if os.path.exists(path)])
    arguments += [word for path in PRIVATE_FOLDERS if os.path.isdir(path) for word in ("--tmpfs", path)]
    arguments += ["--bind", setting.temp, "/tmp"]
    for directory in SECRET_FOLDERS:
        if os.path.isdir(f"{home}/{directory}"):
            arguments += ["--tmpfs", os.path.realpath(f"{home}/{directory}")]
    for name in SECRET_FILES:
        if os.path.isfile(f"{home}/{name}"):
            arguments += ["--ro-bind", f"{setting.state}/empty", os.path.realpath(f"{home}/{name}")]
    # The layers themselves: whoever writes into one bypasses its view.
    arguments += ["--tmpfs", setting.state]
    if network == [] and os.path.exists("/run/systemd/resolve"):
        arguments += ["--ro-bind", "/run/systemd/resolve", "/run/systemd/resolve"]
    # Again what the covers above may have hidden: a repository below /tmp or a covered folder.
    arguments += _pairs("--bind", [view.path for view in setting.views])
    arguments += ["--ro-bind", setting.landlock, "/run/icp_landlock.py"]
    arguments += ["--chdir", setting.cwd, "--seccomp", str(filter_end), "--"]
    writable = [view.path for view in setting.views] + ["/tmp", "/var/tmp", "/dev/shm", "/dev/pts"]
    python = [os.path.realpath(sys.executable), "-I", "-S", "/run/icp_landlock.py"]
    return [*arguments, *python, *writable, "--", *command]


def _pairs(option: str, paths: Sequence[str]) -> list[str]:
    return [word for path in paths for word in (option, path, path)]
