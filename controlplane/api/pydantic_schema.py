"""Describe request bodies in OpenAPI from the pydantic models that validate them.

The document is OpenAPI 3.0, where `nullable` says what JSON Schema says with a type `null`.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

COMPONENTS = "#/components/schemas/{model}"


class OpenApi30Schema(GenerateJsonSchema):
    """JSON Schema in the dialect of OpenAPI 3.0, without titles that only repeat names."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        inner = self.generate_inner(schema["schema"])
        # A reference stands alone in OpenAPI 3.0: whatever is next to it is ignored.
        return {"allOf": [inner], "nullable": True} if "$ref" in inner else {**inner, "nullable": True}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if described.get("default", ...) is None:
            del described["default"]  # a field that may be null and is left out says the same
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generate(self, schema: CoreSchema, mode: Any = "validation") -> JsonSchemaValue:
        described = super().generate(schema, mode)
        for part in (described, *described.get("$defs", {}).values()):
            part.pop("title", None)
            part.pop("description", None)  # docstrings are for developers
        return described


class PydanticModel(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]  # drf-spectacular's
    target_class = "pydantic.BaseModel"
    match_subclasses = True
    priority = 1  # over drf-spectacular's own, which writes JSON Schema of 2020

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:
        return str(self.target.__name__)

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        target: type[BaseModel] = self.target
        schema = target.model_json_schema(ref_template=COMPONENTS, schema_generator=OpenApi30Schema)
        for name, part in schema.pop("$defs", {}).items():
            component = ResolvedComponent(name, "schemas", part, name)  # type: ignore[no-untyped-call]
            auto_schema.registry.register_on_missing(component)
        return schema
