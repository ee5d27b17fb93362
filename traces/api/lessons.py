"""REST for lessons: list, record and retire them, as JSON or as AGENT.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from controlplane.api.bodies import read_media_type
from controlplane.api.errors import ApiError
from controlplane.api.pagination import PAGE_PARAMETERS, paginate
from controlplane.api.parsers import parse_json
from controlplane.api.raw_body import JSON_TYPE, MARKDOWN_TYPES, read_body
from controlplane.api.views import WorkspaceView
from traces.api import lessons_schema, schema
from traces.api.views import MARKDOWN, StreamView, choose_format, markdown_response
from traces.lessons import retire
from traces.lessons.agent_md import parse_agent_md, render_agent_md
from traces.lessons.other_forms import UnreadLine
from traces.lessons.store import (
    MAX_LESSONS,
    Lesson,
    LessonSection,
    LessonSource,
    NewLesson,
    filter_lessons,
    load_history,
    load_retirements,
    parse_lesson,
    record_lesson,
)
from traces.models import LedgerEntry

RetirementAction = Callable[[int, retire.RetirementRequest], Lesson]


class LessonsView(StreamView):
    @extend_schema(
        operation_id="lessons_list", summary="Lessons, newest first, or AGENT.md",
        parameters=[schema.MAP_FORMAT, lessons_schema.SECTION, lessons_schema.STATE, *PAGE_PARAMETERS],
        responses=schema.answers(
            {(200, JSON_TYPE): lessons_schema.LessonPage, (200, MARKDOWN): OpenApiTypes.STR}
        ),
    )  # fmt: skip
    def get(self, request: Request) -> HttpResponse:
        workspace_id = self.bearer.workspace_id
        retired = load_retirements(workspace_id)
        rows = _filter_lessons(workspace_id, request, retired)
        if choose_format(request, "json") == "markdown":
            newest = [lesson for row in rows.order_by("-pk")[:MAX_LESSONS] if (lesson := parse_lesson(row))]
            return markdown_response(render_agent_md(reversed(newest)), "AGENT.md")
        page = paginate(rows, request)
        lessons = load_history(workspace_id, page["results"], retired)
        return Response(page | {"results": [to_answer(lesson) for lesson in lessons]})

    @extend_schema(
        operation_id="lessons_post", summary="Record a lesson, or all of an AGENT.md",
        description=(
            "The same text about the same file is recorded once in each section; that a lesson came again is "
            "counted, unless an AGENT.md brought it."
        ),
        request={JSON_TYPE: lessons_schema.LessonBody, **dict.fromkeys(MARKDOWN_TYPES, OpenApiTypes.STR)},
        responses=schema.answers(
            dict.fromkeys((200, 201), lessons_schema.LearnedAnswer), 413, 415
        ),
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        raw = read_body(request, (JSON_TYPE, *MARKDOWN_TYPES))
        by = self.bearer.name
        is_file = read_media_type(request) in MARKDOWN_TYPES
        new_lessons, unread = _parse_agent_md(raw) if is_file else ([_parse_lesson(raw)], [])
        with transaction.atomic():
            recorded = sum(
                record_lesson(self.bearer.workspace_id, replace(lesson, by=by), self.actor)
                for lesson in new_lessons
            )
        answer: dict[str, Any] = {"recorded": recorded, "duplicates": len(new_lessons) - recorded}
        if unread:
            answer["not_understood"] = [asdict(line) for line in unread]
        return Response(answer, status=201 if recorded else 200)


class RetirementView(WorkspaceView):
    """Retire or restore one lesson, with a reviewer's token."""

    required_role = "reviewer"

    def run(self, turn: RetirementAction, lesson_id: str, body: BaseSerializer[Any]) -> Response:
        body.is_valid(raise_exception=True)
        reason = body.validated_data.get("reason", "")
        retirement = retire.RetirementRequest(lesson_id, reason, self.bearer.name, self.actor)
        return Response(to_answer(turn(self.bearer.workspace_id, retirement)))


class RetireView(RetirementView):
    @extend_schema(
        operation_id="lessons_retire", summary="Retire a lesson: prompts and AGENT.md leave it out",
        request=lessons_schema.RetireBody,
        responses=schema.answers({200: lessons_schema.LessonAnswer}, 404, 409, 415),
    )  # fmt: skip
    def post(self, request: Request, lesson_id: str) -> Response:
        return self.run(retire.retire, lesson_id, lessons_schema.RetireBody(data=request.data))


class RestoreView(RetirementView):
    @extend_schema(
        operation_id="lessons_restore", summary="Take a retirement back",
        request=lessons_schema.RestoreBody,
        responses=schema.answers({200: lessons_schema.LessonAnswer}, 404, 409, 415),
    )  # fmt: skip
    def post(self, request: Request, lesson_id: str) -> Response:
        return self.run(retire.restore, lesson_id, lessons_schema.RestoreBody(data=request.data))


def to_answer(lesson: Lesson) -> dict[str, Any]:
    fields = asdict(lesson)
    fields.pop("more_files")
    return {"id": fields.pop("lesson_id"), **fields, "files": lesson.files}


def _filter_lessons(workspace_id: int, request: Request, retired: Iterable[str]) -> QuerySet[LedgerEntry]:
    section = _choice_param(request, "section", lessons_schema.SECTIONS)
    state = _choice_param(request, "state", lessons_schema.STATES) or "active"
    rows = filter_lessons(workspace_id, [LessonSection(section)] if section else list(LessonSection))
    if state == "all":
        return rows
    over = Q(entry_id__in=list(retired))
    return rows.filter(over if state == "retired" else ~over)


def _choice_param(request: Request, name: str, choices: list[str]) -> str:
    value = request.query_params.get(name, "")
    if value and value not in choices:
        raise ApiError(400, "INVALID_INPUT", f"{name} must be one of {', '.join(choices)}.")
    return value


def _parse_lesson(raw: bytes) -> NewLesson:
    serializer = lessons_schema.LessonBody(data=parse_json(raw))
    serializer.is_valid(raise_exception=True)
    fields = {"file": "", **serializer.validated_data}
    section = LessonSection(fields.pop("section", LessonSection.LESSON))
    source = LessonSource.SESSION if fields.get("session_id") else LessonSource.API
    return NewLesson(**fields, section=section, source=source)


def _parse_agent_md(raw: bytes) -> tuple[list[NewLesson], list[UnreadLine]]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ApiError(400, "INVALID_UTF8", f"The body is not UTF-8 (byte {error.start}).") from error
    return parse_agent_md(text.replace("\x00", ""))
