"""What a tool call would do, drawn by the kind of its tool."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from controlplane.policy.calls import edit_hunks, input_fields
from controlplane.policy.calls.patch_targets import extract_patch
from controlplane.policy.calls.resolve_tool import ResolvedTool
from controlplane.policy.calls.toolsets.kinds import ToolKind
from controlplane.policy.model import Policy
from controlplane.policy.paths.canonical import CanonicalPath, canonicalize
from controlplane.shared.masking import MASK, is_cut
from sessions.approvals.card.command import Setting, command_view
from sessions.approvals.card.file_texts import FileTexts
from sessions.approvals.card.previews import edits, patches
from sessions.approvals.card.previews.hunks import hunks_between
from sessions.approvals.card.previews.values import FilePreview, Preview
from sessions.approvals.card.subjects import resolved_tool
from sessions.models import Approval

FILES_SHOWN = 40
CUT = "The call was longer than what is stored, so a part of it is not shown."
MASKED = "Secrets in it are masked."
RAW = "This form of call cannot be drawn; this is all of it, as it came."
SEVERAL_TEXTS = (
    "It holds several texts, and which of them the tool takes is not known here; this is all of it."
)
UNKNOWN_TOOL = "The gate does not know all that this tool changes; this is the call as it came."
NO_CONTENT = "What it holds now is not shown. {why}"


@dataclass(frozen=True, slots=True)
class Desk:
    """What a preview may look at: the call, the files as they are now, the intent's scope now."""

    approval: Approval
    files: FileTexts
    scope: tuple[str, ...]
    policy: Policy

    @property
    def call(self) -> dict[str, Any]:
        return self.approval.call

    @property
    def targets(self) -> list[dict[str, Any]]:
        return self.call.get("targets") or []

    def place(self, raw: str) -> str | None:
        """The canonical path that a name in the call means; None when it means none in the workspace."""
        found = canonicalize(raw, root=self.call.get("root"), cwd=self.call.get("cwd"), writing=True)
        return found.path if isinstance(found, CanonicalPath) else None


def preview_call(desk: Desk) -> Preview:
    resolved = resolved_tool(desk.approval)
    tool = resolved.tool
    drawn = DRAWERS.get(tool.kind, _raw)(desk, resolved) if tool else _raw(desk, resolved)
    if _has_several_texts(resolved):
        drawn = replace(_raw(desk, resolved), sentence=SEVERAL_TEXTS)
    return _honest(drawn, desk)


def _has_several_texts(resolved: ResolvedTool) -> bool:
    """Whether tools may read an input in different ways: the gate judges each, a drawing would show one."""
    data, kind = resolved.input, resolved.tool.kind if resolved.tool else None
    if not isinstance(data, Mapping):
        return False
    if kind is ToolKind.WRITE:
        return len(edit_hunks.list_full_texts(data)) > 1
    return kind in {ToolKind.EDIT, ToolKind.EDITOR} and len(edit_hunks.list_interpretations(data)) > 1


def _honest(preview: Preview, desk: Desk) -> Preview:
    """With what storing took away, and with what the gate could not know."""
    notes: list[str] = []
    if any(map(is_cut, _texts(desk.call.get("input")))):
        notes.append(CUT)
    if preview.complete and desk.call.get("unknown"):
        notes.extend(dict.fromkeys(_sentence(part["why"]) for part in desk.call["unknown"]))
    complete = preview.complete and not notes
    if any(MASK in text for text in _texts(desk.call.get("input"))):
        notes.append(MASKED)
    return replace(preview, complete=complete, sentence=" ".join((preview.sentence, *notes)))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)


def _sentence(why: str) -> str:
    return f"{why[:1].upper()}{why[1:]}."


# --- one drawer for each kind of tool -----------------------------------------------------------


def _raw(desk: Desk, resolved: ResolvedTool) -> Preview:
    text = json.dumps(desk.call.get("input"), indent=2, ensure_ascii=False)
    known = resolved.tool is not None and resolved.tool.kind in DRAWERS
    return Preview(
        complete=False, sentence=RAW if known else UNKNOWN_TOOL, input=text, note=desk.approval.tool
    )


def _write(desk: Desk, resolved: ResolvedTool) -> Preview:
    if len(desk.targets) != 1 or not isinstance(resolved.input, Mapping):
        return _raw(desk, resolved)
    path = desk.targets[0]["path"]
    return edits.whole_file(path, input_fields.get_content(resolved.input), desk.files.read(path))


def _edit(desk: Desk, resolved: ResolvedTool) -> Preview:
    data = resolved.input
    if not isinstance(data, Mapping):
        return _raw(desk, resolved)
    if len(desk.targets) == 1:
        path = desk.targets[0]["path"]
        if data.get("command") == "create":
            return edits.whole_file(path, input_fields.get_content(data), desk.files.read(path))
        drawn = edits.edit(path, data, desk.files.read(path))
        if drawn is not None:
            return drawn
    return _patch_texts(desk, [data["diff"]]) if isinstance(data.get("diff"), str) else _raw(desk, resolved)


def _patch(desk: Desk, resolved: ResolvedTool) -> Preview:
    assert resolved.tool is not None
    data = {resolved.tool.patch[0]: resolved.input} if isinstance(resolved.input, str) else resolved.input
    given = input_fields.get_all(data, resolved.tool.patch) if isinstance(data, Mapping) else []
    if given and all(isinstance(text, str) for text in given):
        return _patch_texts(desk, given)
    return _edit(desk, resolved)


def _patch_texts(desk: Desk, given: list[str]) -> Preview:
    drawn = [file for text in given for file in patches.files_of_patch(text)]
    files = tuple(_with_content(desk, file) for file in drawn)
    named = {desk.place(path) for path in patches.paths_of_patch(drawn)}
    left = [target["path"] for target in desk.targets if target["path"] not in named]
    hidden = [file.path for file in files if not file.hunks and file.note == "deleted"]
    sentence = "This is the whole patch, as the agent wrote it."
    if left:
        sentence = f"The patch also touches {', '.join(left[:5])}, which cannot be drawn."
    elif hidden:
        sentence = f"What {hidden[0]} holds now is not shown."
    raw = "\n".join(given) if left else ""
    return Preview(
        complete=not (left or hidden), sentence=sentence, note=_files(len(files)), files=files, input=raw
    )


def _with_content(desk: Desk, file: FilePreview) -> FilePreview:
    """A deletion without its lines gets those of the file as it is now."""
    path = desk.place(file.path)
    if file.hunks or file.note != "deleted" or path is None:
        return file
    now = desk.files.read(path)
    return replace(file, hunks=hunks_between(now.text or "", ""))


def _delete(desk: Desk, resolved: ResolvedTool) -> Preview:
    if not desk.targets:
        return _raw(desk, resolved)
    files: list[FilePreview] = []
    unseen: list[str] = []
    for target in desk.targets[:FILES_SHOWN]:
        now = desk.files.read(target["path"])
        note = "does not exist" if now.gone else "deleted"
        files.append(FilePreview(target["path"], note, hunks_between(now.text or "", "")))
        if now.text is None:
            unseen.append(now.why)
    more = len(desk.targets) - FILES_SHOWN
    if more > 0:
        unseen.append(f"{more} more files are not listed.")
    sentence = NO_CONTENT.format(why=unseen[0]) if unseen else "This is all that would be lost."
    return Preview(complete=not unseen, sentence=sentence, note=_files(len(desk.targets)), files=tuple(files))


def _delete_tree(desk: Desk, resolved: ResolvedTool) -> Preview:
    if not desk.targets:
        return _raw(desk, resolved)
    below = [desk.files.below(target["path"]) for target in desk.targets]
    if any(names is None for names in below):
        why = "There are too many to list." if desk.files.here else "The folder is not on this machine."
        folders = tuple(FilePreview(f"{target['path']}/**", "deleted") for target in desk.targets)
        return Preview(complete=False, sentence=f"Which files it holds is not shown. {why}", files=folders)
    names = [name for found in below for name in found or ()]
    shown = tuple(FilePreview(name, "deleted") for name in names[:FILES_SHOWN])
    more = f", the first {FILES_SHOWN} of which are listed" if len(names) > FILES_SHOWN else ""
    sentence = f"{_files(len(names))} would be lost{more}; what they hold is not shown."
    return Preview(complete=False, sentence=sentence, note=_files(len(names)), files=shown)


def _move(desk: Desk, resolved: ResolvedTool) -> Preview:
    sources = [target["path"] for target in desk.targets if target["op"] == "move"]
    arrivals = [target["path"] for target in desk.targets if target["op"] != "move"]
    if not sources or not arrivals:
        return _raw(desk, resolved)
    files = tuple(FilePreview(path, f"moved to {', '.join(arrivals)}") for path in sources)
    there = [path for path in arrivals if (now := desk.files.read(path)).text is not None and not now.gone]
    if there:
        return Preview(complete=False, sentence=f"{there[0]} exists and would be overwritten.", files=files)
    known = "" if desk.files.here else " Whether something is overwritten there is not known here."
    return Preview(complete=not known, sentence=f"The content stays as it is.{known}", files=files)


def _folder(desk: Desk, resolved: ResolvedTool) -> Preview:
    if not desk.targets:
        return _raw(desk, resolved)
    files = tuple(FilePreview(target["path"], "new folder") for target in desk.targets)
    return Preview(complete=True, sentence="An empty folder is made, nothing else.", files=files)


def _shell(desk: Desk, resolved: ResolvedTool) -> Preview:
    patch = _patch_as_command(desk, resolved)
    if patch is not None:
        return _patch_texts(desk, [patch])
    setting = Setting(
        root=desk.call.get("root"),
        cwd=desk.call.get("cwd"),
        scope=desk.scope,
        safe_commands=desk.policy.safe_commands,
        ignore_case=desk.policy.case_insensitive_paths,
        world=desk.files.worktree,
    )
    command = command_view(resolved, setting)
    if not command.text.strip():
        return _raw(desk, resolved)
    count = f"{len(command.lines)} part{'' if len(command.lines) == 1 else 's'}"
    note = f"{count}, run in {command.folder or '/'} of the workspace"
    if command.unknown:
        sentence = " ".join(_sentence(why) for why in command.unknown[:3])
        return Preview(complete=False, sentence=sentence, note=note, command=command)
    sentence = "Every file that it would change is marked; what is written there is up to the command."
    return Preview(complete=True, sentence=sentence, note=note, command=command)


def _patch_as_command(desk: Desk, resolved: ResolvedTool) -> str | None:
    """The patch that the gate took the only command of a call for."""
    assert resolved.tool is not None
    data = resolved.input
    given = input_fields.get_all(data, resolved.tool.command) if isinstance(data, Mapping) else []
    return extract_patch(given[0], desk.approval.session.agent_name) if len(given) == 1 else None


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


Drawer = Callable[[Desk, ResolvedTool], Preview]
DRAWERS: Mapping[ToolKind, Drawer] = {
    ToolKind.WRITE: _write,
    ToolKind.EDIT: _edit,
    ToolKind.EDITOR: _edit,
    ToolKind.PATCH: _patch,
    ToolKind.DELETE: _delete,
    ToolKind.DELETE_TREE: _delete_tree,
    ToolKind.MOVE: _move,
    ToolKind.FOLDER: _folder,
    ToolKind.SHELL: _shell,
    ToolKind.MONITOR: _shell,
}
