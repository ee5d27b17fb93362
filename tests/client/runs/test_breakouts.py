"""Attempts to get out of a contained run. Each aims at a canary in a scratch folder, never at the machine.

The fixture holds the canary against its text at the end of every test. What opens a file of the kernel for
writing writes nothing into it.
"""

from __future__ import annotations

import os
import socket
import subprocess

import pytest

from tests.client.runs.conftest import SYSTEM_PYTHON, Machine, users

pytestmark = pytest.mark.deep  # some 130 machines

PYTHON = f"{SYSTEM_PYTHON} -I -S -c"


def call(number: int, *arguments: object) -> str:
    """Return a command that makes a call of the system, and prints OUT where that succeeds."""
    words = ", ".join(map(repr, (number, *arguments)))
    text = f"import ctypes\nprint('OUT' if ctypes.CDLL(None).syscall({words}) >= 0 else 'refused')"
    return f"{SYSTEM_PYTHON} -I -S - <<'END'\n{text}\nEND"


def script(text: str) -> str:
    return f"{SYSTEM_PYTHON} -I -S - <<'END'\n{text}\nEND"


CLONE_NEWUSER, SIGCHLD, HERE = 0x10000000, 17, -100
# name -> a command that prints OUT when it got out, or got what it must not have
ATTEMPTS = {
    "write_outside": "echo x >../outside/canary && echo OUT",
    "write_through_link": "ln -s ../outside/canary src/l; echo x >src/l && echo OUT",
    "write_through_root": "echo x >/proc/1/root$PWD/../outside/canary && echo OUT",
    "write_through_cwd": "cd ..; echo x >/proc/self/cwd/outside/canary && echo OUT",
    "delete_outside": "rm -f ../outside/canary && test ! -e ../outside/canary && echo OUT",
    "rename_outside": "mv src/app.py ../outside/ && echo OUT",
    "hard_link_from_outside": "ln ../outside/canary src/canary && echo x >src/canary && echo OUT",
    "new_file_in_home": "echo x >~/new && echo OUT",
    "mode_outside": "chmod 777 ../outside/canary && echo OUT",
    "time_outside": "touch -d 2001-01-01 ../outside/canary && echo OUT",
    "owner_outside": "chown 0:0 ../outside/canary 2>/dev/null && touch ../outside/canary && echo OUT",
    "read_ssh_key": "cat ~/.ssh/id_ed25519 && echo OUT",
    "read_npm_token": "grep . ~/.npmrc && echo OUT",
    "read_own_token": "cat ~/.config/icp/connections.json && echo OUT",
    "read_ignored_file": "cat .env && echo OUT",
    "read_ignored_folder": "cat secrets/key && echo OUT",
    "read_state": "find ~/.local/state/icp -mindepth 1 | grep . && echo OUT",
    "write_state": "mkdir -p ~/.local/state/icp/held/x && ls ~/.local/state/icp/runs && echo OUT",
    "environment_of_init": "tr '\\0' '\\n' </proc/1/environ | grep CLIENT && echo OUT",
    "environment": "env | grep -E 'CLIENT|REPORT' && echo OUT",
    "mount": "mount -t tmpfs none /tmp && echo OUT",
    "remount": "mount -o remount,rw / && echo OUT",
    "bind_mount": "mount --bind / /tmp && echo OUT",
    "umount": "umount . && echo OUT",
    "chroot": "chroot / true && echo OUT",
    "nested_namespace": "unshare -U true && echo OUT",
    "nested_mounts": "unshare -Urm true && echo OUT",
    "enter_namespace": "nsenter -t 1 -m true && echo OUT",
    "sys_write": "find /sys -type f | grep . && echo OUT",
    "kernel_core_pattern": "(: >>/proc/sys/kernel/core_pattern) && echo OUT",
    "kernel_forwarding": "(: >>/proc/sys/net/ipv4/ip_forward) && echo OUT",
    "kernel_sysrq": "(: >>/proc/sysrq-trigger) && echo OUT",
    "kernel_irq": "ls /proc/irq/*/smp_affinity 2>/dev/null | head -1 | while read f; do (: >>$f) && echo OUT; done",
    "devices": "ls /dev | grep -E '^(mem|kmsg|sd|vd|nvme|loop|fuse)' && echo OUT",
    "device_node": "mknod src/dev c 1 1 && echo OUT",
    "whiteout_forged": "mknod src/app.py.w c 0 0 && echo OUT",
    "set_user_id": "cp /bin/sh src/sh; chmod 4755 src/sh; cat src/sh >/dev/null; test -u src/sh && echo fine",
    "run_folder": "ls /run | grep -v icp_landlock.py && echo OUT",
    "other_processes": "ls /proc | grep -cE '^[0-9]+$' | while read n; do test $n -gt 12 && echo OUT; done",
    "kill_outside": "kill -0 $PARENT 2>/dev/null && echo OUT",
    "terminal": f"{PYTHON} \"import fcntl; fcntl.ioctl(0, 0x5412, b'x'); print('OUT')\"",
    "terminal_device": "echo x >/dev/tty && echo OUT",
    "network": f"{PYTHON} \"import socket; socket.create_connection(('127.0.0.1', $PORT), 2); print('OUT')\"",
    "network_outside": f"{PYTHON} \"import socket; s = socket.socket(2, 2); s.sendto(b'x', ('192.0.2.1', 9)); print('OUT')\"",
    "socket_file": f"{PYTHON} \"import socket; socket.socket(1).connect('../outside/socket'); print('OUT')\"",
    "abstract_socket": f"{PYTHON} \"import socket; socket.socket(1).connect('\\0icp-$PORT'); print('OUT')\"",
    "vsock": f"{PYTHON} \"import socket; socket.socket(40, 1); print('OUT')\"",
    "inherited_descriptors": "ls /proc/self/fd | grep -vE '^[0-3]$' && echo OUT",
    "keyring": f"{PYTHON} \"import ctypes; print('OUT' if ctypes.CDLL(None).syscall(250, 0, -3, 1) >= 0 else '')\"",
    "io_uring": f"{PYTHON} \"import ctypes; print('OUT' if ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(200)) >= 0 else '')\"",
    "bpf": f"{PYTHON} \"import ctypes; print('OUT' if ctypes.CDLL(None).syscall(321, 0, ctypes.create_string_buffer(200), 200) >= 0 else '')\"",
    "file_handles": f"{PYTHON} \"import ctypes; b = ctypes.create_string_buffer(b'\\x08' + bytes(200)); print('OUT' if ctypes.CDLL(None).syscall(303, -100, b'/', b, b, 0) >= 0 else '')\"",
    "ptrace_init": f"{PYTHON} \"import ctypes; print('OUT' if ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0 else '')\"",
    "memory_of_init": f"{PYTHON} \"open('/proc/1/mem', 'r+b'); print('OUT')\"",
    "host_name": "hostname other && echo OUT",
    "capabilities": "grep -E '^Cap(Eff|Prm|Bnd|Amb):' /proc/self/status | grep -v 0000000000000000 && echo OUT",
    "privileges": "grep NoNewPrivs /proc/self/status | grep -v 1 && echo OUT",
    "new_mount_of_the_disk": call(428, HERE, b"/", 1),  # open_tree, cloned
    "new_file_system": call(430, b"tmpfs", 0),  # fsopen
    "mount_attributes": call(442, HERE, b"/", 0x8000, bytes(32), 32),  # mount_setattr, recursive
    "pivot_root": call(155, b"/tmp", b"/tmp"),
    "clone_of_a_namespace": call(56, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0),
    "clone3_of_a_namespace": call(435, CLONE_NEWUSER.to_bytes(8, "little") + bytes(56), 64),
    "read_memory_of_init": call(310, 1, 0, 0, 0, 0, 0),  # process_vm_readv
    "descriptor_of_init": script(
        "import ctypes, os\nfd = os.pidfd_open(1)\nprint('OUT' if ctypes.CDLL(None).syscall(438, fd, 0, 0) >= 0 else '')"
    ),
    "namespaces_of_init": script(
        "import ctypes, os\nfor name in os.listdir('/proc/1/ns'):\n"
        "    fd = os.open('/proc/1/ns/' + name, os.O_RDONLY)\n"
        "    print('OUT' if ctypes.CDLL(None).setns(fd, 0) == 0 else '')"
    ),
    "overlay_attributes_of_root": script(
        "import os\nos.setxattr('src', 'trusted.overlay.redirect', b'/../outside')\nprint('OUT')"
    ),
    "capabilities_of_a_file": script(
        "import os\nos.setxattr('src/app.py', 'security.capability', bytes.fromhex('0100000200200000') + bytes(12))\nprint('OUT')"
    ),
    "terminal_of_its_own": script(
        "import fcntl, pty\nfcntl.ioctl(pty.openpty()[1], 0x5412, b'x')\nprint('OUT')"
    ),
    "set_user_id_program": "su root -c 'echo OUT' </dev/null; mount --bind / /tmp && echo OUT",
    "shared_memory": "ls -A /dev/shm | grep . && echo OUT",
    "hooks_of_git": "printf '#!/bin/sh\\ntrue\\n' >.git/hooks/pre-commit; git config core.pager x; true",
}  # fmt: skip


@pytest.fixture
def listeners(machine: Machine) -> dict[str, str]:
    """A TCP, a file and an abstract socket of the host, which must not be reached."""
    tcp = socket.create_server(("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    file, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    file.bind(str(machine.outside / "socket"))
    (machine.outside / "socket").chmod(0o777)
    abstract.bind(f"\0icp-{port}")
    for listener in (file, abstract):
        listener.listen()
    machine.sockets = [tcp, file, abstract]
    return {"PORT": str(port), "PARENT": str(os.getpid())}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_attempt_gets_out(name: str, machine: Machine, listeners: dict[str, str]) -> None:
    command = ATTEMPTS[name]
    for variable, value in listeners.items():
        command = command.replace(f"${variable}", value)
    done = machine.run(command)
    assert "OUT" not in done.out, (done.out, done.err)
    assert "command not found" not in done.err  # an attempt that could not be made proves nothing
    assert "SyntaxError" not in done.err
    assert "syntax error" not in done.err
    assert not (machine.base / "home/new").exists()
    for file in (machine.repository / "src").rglob("*"):
        assert file.is_symlink() or not file.stat().st_mode & 0o6000


def test_a_stopped_init_cannot_stop_the_client(machine: Machine) -> None:
    done = machine.run(
        f"kill -STOP 1; {PYTHON} 'import ctypes; ctypes.CDLL(None).ptrace(16, 1, 0, 0)'; exec sleep 99",
        seconds=2,
    )
    assert done.status == 124


def test_marks_of_the_overlay_cannot_be_forged(machine: Machine) -> None:
    """Neither does a folder look removed, nor does it show another one."""
    done = machine.run(
        script(
            "import os\nfor name, text in (('opaque', b'y'), ('redirect', b'/../outside'), ('whiteout', b'y')):\n"
            "    os.setxattr('src', 'user.overlay.' + name, text)\n"
            "open('src/empty', 'w').close()\nos.setxattr('src/empty', 'user.overlay.whiteout', b'y')\n"
            "print(os.listdir('src'))"
        )
    )
    assert "canary" not in done.out
    assert done.changes == {"src/empty": "created"}
    assert (machine.repository / "src/app.py").exists()
    assert machine.run("ls src").out == "app.py\nempty\n"


def test_a_link_in_the_place_of_a_folder_leads_nowhere(machine: Machine) -> None:
    """The command replaces a folder by a link: what it writes through it is outside, and refused."""
    done = machine.run("rm -r docs; ln -s ../outside docs; echo x >docs/canary; echo x >docs/new")
    assert "docs/new" not in done.changes
    assert (machine.outside / "canary").read_text() == "alive\n"
    assert not (machine.outside / "new").exists()


def test_a_hard_link_made_before_keeps_its_file(machine: Machine) -> None:
    os.link(machine.outside / "canary", machine.repository / "src/canary")
    done = machine.run("echo x >>src/canary")
    assert done.changes == {"src/canary": "modified"}
    assert (machine.repository / "src/canary").read_text() == "alive\nx\n"
    assert (machine.outside / "canary").read_text() == "alive\n"


def test_a_folder_swapped_for_a_link_before_landing_leads_nowhere(machine: Machine) -> None:
    """Between the list and the landing somebody replaces a folder: nothing is written through it."""
    machine.run("mkdir -p docs/deep; echo x >docs/deep/canary", run_id="a" * 32)
    (machine.repository / "docs/deep").symlink_to("../../outside")
    answer = '{"land": ["docs/deep/canary"], "hold": [], "discard": []}'
    done = machine.drive("land", "a" * 32, LAND=answer)
    assert "docs/deep/canary did not land" in done.err


def test_a_file_swapped_for_a_link_before_landing_is_not_followed(machine: Machine) -> None:
    machine.run("echo more >>docs/guide.md", run_id="a" * 32)
    guide = machine.repository / "docs/guide.md"
    guide.unlink()
    guide.symlink_to("../../outside/canary")
    done = machine.drive("land", "a" * 32, LAND='{"land": ["docs/guide.md"], "hold": [], "discard": []}')
    assert "docs/guide.md did not land: STALE_FILE" in done.err


@pytest.mark.parametrize("path", ["../outside/canary", "/etc/x", "src/../../outside/canary", "", ".."])
def test_an_answer_cannot_name_a_path_that_did_not_change(path: str, machine: Machine) -> None:
    machine.run("echo more >>docs/guide.md", run_id="a" * 32)
    machine.drive("land", "a" * 32, LAND=f'{{"land": ["{path}"], "hold": ["docs/guide.md"], "discard": []}}')
    assert (machine.repository / "docs/guide.md").read_text() == "# Guide\n"


@pytest.mark.parametrize("run_id", ["../../x", "A" * 32, "", "a" * 31, "a" * 33, "/" * 32])
def test_a_run_id_is_no_path(run_id: str, machine: Machine) -> None:
    done = machine.drive("run", run_id)
    assert done.status == 126
    assert "hexadecimal" in done.err


# Root reads everything, and only root can become two ordinary users.
@pytest.mark.parametrize("machine", [user for user in users() if user == "nobody"], indirect=True)
def test_the_layers_are_private(machine: Machine) -> None:
    process = machine.start("sleep 30", "9" * 32)
    listing = subprocess.run(["setpriv", "--reuid=65533", "--clear-groups", "ls", str(machine.state)], check=False,
                             capture_output=True)  # fmt: skip
    process.kill()
    process.wait()
    assert listing.returncode != 0


def test_hooks_and_settings_of_git_are_reported_like_any_file(machine: Machine) -> None:
    done = machine.run("echo x >.git/hooks/pre-commit; git config core.pager x")
    assert set(done.changes) == {".git/hooks/pre-commit", ".git/config"}
