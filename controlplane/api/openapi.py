"""OpenAPI generation: descriptions come from `extend_schema`; docstrings are for developers."""

from __future__ import annotations

from drf_spectacular.openapi import AutoSchema

from controlplane.api.pydantic_schema import PydanticModel

__all__ = ["PydanticModel", "Schema"]  # importing an extension registers it


class Schema(AutoSchema):
    def get_description(self) -> str:  # type: ignore[override]  # drf-spectacular's signature
        return ""
