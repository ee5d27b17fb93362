"""Preview a tool call by the kind of its tool."""

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
from sessions.approvals.card.command import CommandSetting, build_command_view
from sessions.approvals.card.file_contents import WorkspaceFiles
from sessions.approvals.card.previews import edits, patches
from sessions.approvals.card.previews.hunks import diff_texts
from sessions.approvals.card.previews.values import FilePreview, Preview
from sessions.approvals.card.subjects import is_read, list_paths, resolve_approval_tool
from sessions.models import Approval

MAX_FILES = 40
TRUNCATED = "The call was too long to store in full, so part of it is not shown."
MASKED = "Secrets are masked."
NOT_RENDERED = "There is no preview for this form of call. This is its complete input, as the agent sent it."
AMBIGUOUS_TEXTS = (
    "The input holds several texts, and it is not known which one the tool uses. This is all of it."
)
UNKNOWN_TOOL = (
    "The gate does not know everything that this tool changes. This is its input, as the agent sent it."
)
CONTENT_NOT_AVAILABLE = "The current content is not shown. {reason}"


@dataclass(frozen=True, slots=True)
class PreviewInputs:
    """What a preview reads: the call, the current files, the current scope, the policy."""

    approval: Approval
    files: WorkspaceFiles
    scope: tuple[str, ...]
    policy: Policy

    @property
    def call(self) -> dict[str, Any]:
        return self.approval.call

    @property
    def targets(self) -> list[dict[str, Any]]:
        return self.call.get("targets") or []

    def resolve_path(self, raw: str) -> str | None:
        """Return the canonical path of a raw path in the call; None outside the workspace."""
        resolved = canonicalize(raw, root=self.call.get("root"), cwd=self.call.get("cwd"), writing=True)
        return resolved.path if isinstance(resolved, CanonicalPath) else None


def preview_call(inputs: PreviewInputs) -> Preview:
    resolved = resolve_approval_tool(inputs.approval)
    tool = resolved.tool
    preview = (
        RENDERERS.get(tool.kind, _render_input)(inputs, resolved) if tool else _render_input(inputs, resolved)
    )
    if _has_several_texts(resolved):
        preview = replace(_render_input(inputs, resolved), sentence=AMBIGUOUS_TEXTS)
    return _note_omissions(preview, inputs)


def _has_several_texts(resolved: ResolvedTool) -> bool:
    """Return whether tools may read this input in different ways.

    The gate checks every reading; a preview would show only one of them.
    """
    data, kind = resolved.input, resolved.tool.kind if resolved.tool else None
    if not isinstance(data, Mapping):
        return False
    if kind is ToolKind.WRITE:
        return len(edit_hunks.list_full_texts(data)) > 1
    return kind in {ToolKind.EDIT, ToolKind.EDITOR} and len(edit_hunks.list_interpretations(data)) > 1


def _note_omissions(preview: Preview, inputs: PreviewInputs) -> Preview:
    """Add what storing cut or masked and what the gate could not determine."""
    notes: list[str] = []
    if any(map(is_cut, _iter_texts(inputs.call.get("input")))):
        notes.append(TRUNCATED)
    if preview.complete and inputs.call.get("unknown"):
        notes.extend(dict.fromkeys(_to_sentence(part["why"]) for part in inputs.call["unknown"]))
    complete = preview.complete and not notes
    if any(MASK in text for text in _iter_texts(inputs.call.get("input"))):
        notes.append(MASKED)
    return replace(preview, complete=complete, sentence=" ".join((preview.sentence, *notes)))


def _iter_texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _iter_texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _iter_texts(item)


def _to_sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."


# --- one renderer per kind of tool ---------------------------------------------------------------


def _render_input(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    text = json.dumps(inputs.call.get("input"), indent=2, ensure_ascii=False)
    is_known = resolved.tool is not None and resolved.tool.kind in RENDERERS
    return Preview(
        complete=False,
        sentence=NOT_RENDERED if is_known else UNKNOWN_TOOL,
        input=text,
        note=inputs.approval.tool,
    )


def _render_write(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    if len(inputs.targets) != 1 or not isinstance(resolved.input, Mapping):
        return _render_input(inputs, resolved)
    path = inputs.targets[0]["path"]
    return edits.preview_content(path, input_fields.get_content(resolved.input), inputs.files.read(path))


def _render_edit(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    data = resolved.input
    if not isinstance(data, Mapping):
        return _render_input(inputs, resolved)
    if is_read(inputs.approval):
        return _render_read(inputs, resolved)
    if len(inputs.targets) == 1:
        path = inputs.targets[0]["path"]
        if data.get("command") == "create":
            return edits.preview_content(path, input_fields.get_content(data), inputs.files.read(path))
        preview = edits.preview_edit(path, data, inputs.files.read(path))
        if preview is not None:
            return preview
    return (
        _render_patch_texts(inputs, [data["diff"]])
        if isinstance(data.get("diff"), str)
        else _render_input(inputs, resolved)
    )


def _render_patch(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    assert resolved.tool is not None
    data = {resolved.tool.patch[0]: resolved.input} if isinstance(resolved.input, str) else resolved.input
    texts = input_fields.get_all(data, resolved.tool.patch) if isinstance(data, Mapping) else []
    if texts and all(isinstance(text, str) for text in texts):
        return _render_patch_texts(inputs, texts)
    return _render_edit(inputs, resolved)


def _render_patch_texts(inputs: PreviewInputs, texts: list[str]) -> Preview:
    parsed = [file for text in texts for file in patches.parse_patch_files(text)]
    files = tuple(_add_deleted_lines(inputs, file) for file in parsed)
    paths = {inputs.resolve_path(path) for path in patches.list_patch_paths(parsed)}
    missing = [target["path"] for target in inputs.targets if target["path"] not in paths]
    hidden = [file.path for file in files if not file.hunks and file.note == "deleted"]
    sentence = "This is the complete patch, as the agent wrote it."
    if missing:
        sentence = f"The patch also touches {', '.join(missing[:5])}, which cannot be shown."
    elif hidden:
        sentence = f"The current content of {hidden[0]} is not shown."
    raw = "\n".join(texts) if missing else ""
    return Preview(
        complete=not (missing or hidden),
        sentence=sentence,
        note=_count_files(len(files)),
        files=files,
        input=raw,
    )


def _add_deleted_lines(inputs: PreviewInputs, file: FilePreview) -> FilePreview:
    """Fill a deletion that lists no lines with those of the current file."""
    path = inputs.resolve_path(file.path)
    if file.hunks or file.note != "deleted" or path is None:
        return file
    current = inputs.files.read(path)
    return replace(file, hunks=diff_texts(current.text or "", ""))


def _render_delete(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    if not inputs.targets:
        return _render_input(inputs, resolved)
    files: list[FilePreview] = []
    omissions: list[str] = []
    for target in inputs.targets[:MAX_FILES]:
        current = inputs.files.read(target["path"])
        note = "does not exist" if current.is_missing else "deleted"
        files.append(FilePreview(target["path"], note, diff_texts(current.text or "", "")))
        if current.text is None:
            omissions.append(current.reason)
    more = len(inputs.targets) - MAX_FILES
    if more > 0:
        omissions.append(f"{more} more files are not listed.")
    sentence = (
        CONTENT_NOT_AVAILABLE.format(reason=omissions[0])
        if omissions
        else "This is everything that would be deleted."
    )
    return Preview(
        complete=not omissions, sentence=sentence, note=_count_files(len(inputs.targets)), files=tuple(files)
    )


def _render_delete_tree(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    if not inputs.targets:
        return _render_input(inputs, resolved)
    listings = [inputs.files.list_below(target["path"]) for target in inputs.targets]
    if any(names is None for names in listings):
        reason = (
            "There are too many to list."
            if inputs.files.is_available
            else "The folder is not on this server."
        )
        previews = tuple(FilePreview(f"{target['path']}/**", "deleted") for target in inputs.targets)
        return Preview(complete=False, sentence=f"Its files are not listed. {reason}", files=previews)
    names = [name for listing in listings for name in listing or ()]
    files = tuple(FilePreview(name, "deleted") for name in names[:MAX_FILES])
    more = f" (the first {MAX_FILES} are listed)" if len(names) > MAX_FILES else ""
    sentence = f"{_count_files(len(names))} would be deleted{more}. The content is not shown."
    return Preview(complete=False, sentence=sentence, note=_count_files(len(names)), files=files)


def _render_move(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    sources = [target["path"] for target in inputs.targets if target["op"] == "move"]
    destinations = [target["path"] for target in inputs.targets if target["op"] != "move"]
    if not sources or not destinations:
        return _render_input(inputs, resolved)
    files = tuple(FilePreview(path, f"moved to {', '.join(destinations)}") for path in sources)
    existing = [
        path
        for path in destinations
        if (current := inputs.files.read(path)).text is not None and not current.is_missing
    ]
    if existing:
        return Preview(
            complete=False, sentence=f"{existing[0]} exists and would be overwritten.", files=files
        )
    unchecked = "" if inputs.files.is_available else " Whether that overwrites a file is not known."
    return Preview(complete=not unchecked, sentence=f"The content stays as it is.{unchecked}", files=files)


def _render_read(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    paths = list_paths(inputs.approval)
    if not paths or not is_read(inputs.approval):
        return _render_input(inputs, resolved)
    files = tuple(FilePreview(path, "read") for path in paths[:MAX_FILES])
    return Preview(
        complete=len(paths) <= MAX_FILES,
        sentence="The agent reads this and changes nothing.",
        note=f"{_count_files(len(paths))} read",
        files=files,
    )


def _render_mkdir(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    if not inputs.targets:
        return _render_input(inputs, resolved)
    files = tuple(FilePreview(target["path"], "new folder") for target in inputs.targets)
    return Preview(complete=True, sentence="This creates an empty folder and nothing else.", files=files)


def _render_shell(inputs: PreviewInputs, resolved: ResolvedTool) -> Preview:
    patch = _extract_patch_command(inputs, resolved)
    if patch is not None:
        return _render_patch_texts(inputs, [patch])
    setting = CommandSetting(
        root=inputs.call.get("root"),
        cwd=inputs.call.get("cwd"),
        scope=inputs.scope,
        safe_commands=inputs.policy.safe_commands,
        ignore_case=inputs.policy.case_insensitive_paths,
        filesystem=inputs.files.worktree,
    )
    command = build_command_view(resolved, setting)
    if not command.text.strip():
        return _render_input(inputs, resolved)
    count = f"{len(command.lines)} part{'' if len(command.lines) == 1 else 's'}"
    note = f"{count}, run in {command.folder or '/'} of the workspace"
    if command.unknown:
        sentence = " ".join(_to_sentence(reason) for reason in command.unknown[:3])
        return Preview(complete=False, sentence=sentence, note=note, command=command)
    sentence = (
        "Every file that the command would change is marked; what it writes there is up to the command."
    )
    return Preview(complete=True, sentence=sentence, note=note, command=command)


def _extract_patch_command(inputs: PreviewInputs, resolved: ResolvedTool) -> str | None:
    """Return the patch where the only command of the call is an apply_patch document, else None."""
    assert resolved.tool is not None
    data = resolved.input
    commands = input_fields.get_all(data, resolved.tool.command) if isinstance(data, Mapping) else []
    return extract_patch(commands[0], inputs.approval.session.agent_name) if len(commands) == 1 else None


def _count_files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


Renderer = Callable[[PreviewInputs, ResolvedTool], Preview]
RENDERERS: Mapping[ToolKind, Renderer] = {
    ToolKind.WRITE: _render_write,
    ToolKind.EDIT: _render_edit,
    ToolKind.EDITOR: _render_edit,
    ToolKind.PATCH: _render_patch,
    ToolKind.DELETE: _render_delete,
    ToolKind.DELETE_TREE: _render_delete_tree,
    ToolKind.MOVE: _render_move,
    ToolKind.FOLDER: _render_mkdir,
    ToolKind.SHELL: _render_shell,
    ToolKind.MONITOR: _render_shell,
    ToolKind.READ: _render_read,
    ToolKind.SEARCH: _render_read,
    ToolKind.GLOB: _render_read,
}
