"""JavaScript and TypeScript, with JSX. Quotes, semicolons and last commas say nothing."""

from __future__ import annotations

import re
from dataclasses import replace

from tree_sitter import Node

from traces.mutation_class.languages.grammar import (
    Binds,
    Container,
    Grammar,
    Naming,
    Ordering,
    Role,
    ScopeKind,
    kinds,
    places,
)

FUNCTIONS = kinds(
    "function_declaration generator_function_declaration function_expression "
    "generator_function arrow_function method_definition"
)
CLASSES = kinds("class_declaration abstract_class_declaration class")
TYPES = kinds("interface_declaration type_alias_declaration")
BLOCKS = kinds(
    "statement_block for_statement for_in_statement catch_clause switch_body function_type "
    "function_signature method_signature"
)
DECLARING = ("let", "const", "var", "using")
ENDS = kinds(";")
ENDED = kinds(
    "expression_statement lexical_declaration variable_declaration return_statement throw_statement "
    "break_statement continue_statement import_statement export_statement do_statement debugger_statement "
    "class_body type_alias_declaration function_signature ambient_declaration"
)

NAMING = Naming(
    roles={
        "identifier": Role.NAME,
        "type_identifier": Role.NAME,
        "property_identifier": Role.MEMBER,
        "private_property_identifier": Role.MEMBER,
        "shorthand_property_identifier": Role.NAME_AND_MEMBER,
        "shorthand_property_identifier_pattern": Role.NAME_AND_MEMBER,
        "statement_identifier": Role.EXTERNAL,
    },
    places={
        ("import_specifier", "name"): Role.EXTERNAL,
        ("export_specifier", "alias"): Role.EXTERNAL,
        ("namespace_export", None): Role.EXTERNAL,
    },
    declares={
        **{(kind, "name"): Binds.ENCLOSING for kind in (*FUNCTIONS, *CLASSES, *TYPES)},
        ("function_expression", "name"): Binds.INNERMOST,
        ("class", "name"): Binds.INNERMOST,
        ("variable_declarator", "name"): Binds.INNERMOST,
        ("var_declarator", "name"): Binds.FUNCTION,
        ("formal_parameters", None): Binds.INNERMOST,
        ("arrow_function", "parameter"): Binds.INNERMOST,
        ("required_parameter", "pattern"): Binds.INNERMOST,
        ("optional_parameter", "pattern"): Binds.INNERMOST,
        ("for_in_statement", "left"): Binds.INNERMOST,
        ("catch_clause", "parameter"): Binds.INNERMOST,
        ("import_specifier", "name"): Binds.INNERMOST,
        ("import_specifier", "alias"): Binds.INNERMOST,
        ("import_clause", None): Binds.INNERMOST,
        ("namespace_import", None): Binds.INNERMOST,
        ("type_parameter", "name"): Binds.INNERMOST,
        ("enum_declaration", "name"): Binds.INNERMOST,
        ("function_signature", "name"): Binds.ENCLOSING,
        ("internal_module", "name"): Binds.INNERMOST,
    },
    needs={("for_in_statement", "left"): frozenset(DECLARING)},
    patterns=kinds("object_pattern array_pattern rest_pattern"),
    pattern_fields={
        "pair_pattern": "value",
        "assignment_pattern": "left",
        "object_assignment_pattern": "left",
    },
    scopes={
        **dict.fromkeys(FUNCTIONS, ScopeKind.FUNCTION),
        **dict.fromkeys(CLASSES, ScopeKind.CLASS),
        **dict.fromkeys(TYPES, ScopeKind.BLOCK),
        **dict.fromkeys(BLOCKS, ScopeKind.BLOCK),
    },
    members=places(
        "method_definition.name field_definition.property public_field_definition.name "
        "abstract_method_signature.name"
    ),
    bases=frozenset((kind, "class_heritage") for kind in CLASSES),
    properties={
        ("required_parameter", "pattern"): kinds("accessibility_modifier override_modifier readonly")
    },
    assigns=kinds("assignment_expression"),
    selves=("member_expression", "object", kinds("this")),
    hides_classes=True,
    forms=re.compile(
        r"(?P<fixed>(?:constructor|toString|valueOf|toJSON|then|default|arguments)$)"
        r"|(?P<hook>use[A-Z])|(?P<capital>[A-Z])|(?P<hidden>#)"
    ),
)

HELD = kinds(
    "function_declaration generator_function_declaration class_declaration "
    "abstract_class_declaration interface_declaration type_alias_declaration "
    "function_signature"
)
TOP = Container(definitions=HELD, imports=kinds("import_statement"), values=kinds("lexical_declaration"))
ORDERING = Ordering(
    containers={
        ("program", ""): TOP,
        ("class_body", "*"): Container(
            definitions=kinds("method_definition abstract_method_signature"),
            values=kinds("field_definition public_field_definition"),
            values_in_order=True,
        ),
        ("interface_body", "*"): Container(definitions=kinds("property_signature method_signature")),
        ("named_imports", "*"): Container(imports=kinds("import_specifier")),
    },
    wrappers=kinds("export_statement"),
    bound=kinds("import_clause import_specifier"),
    later=frozenset((kind, "body") for kind in FUNCTIONS)
    | places(
        "interface_declaration.body type_alias_declaration.value function_signature.parameters "
        "function_signature.return_type function_declaration.return_type required_parameter.type "
        "optional_parameter.type variable_declarator.type"
    ),
    acting=kinds(
        "call_expression new_expression await_expression yield_expression "
        "member_expression subscript_expression assignment_expression "
        "augmented_assignment_expression update_expression template_substitution class "
        "computed_property_name spread_element jsx_element jsx_self_closing_element"
    ),
    decorators=kinds("decorator computed_property_name"),
    glued=kinds("decorator"),
    glue_pins=True,
)

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LINES = re.compile(r"[ \t\r]*\n\s*")


def text_of(node: Node, text: str) -> str:
    """A text without its quotes, and without the backslash that only one kind of quote needs."""
    if node.parent is not None and node.parent.type == "jsx_attribute":
        return text[1:-1]
    return _ESCAPE.sub(lambda found: found[1] if found[1] in "'\"" else found[0], text[1:-1])


def words_of(_node: Node, text: str) -> str:
    """Text between tags as JSX reads it: line breaks with the blanks around them are one blank, or none."""
    inner = _LINES.sub("\n", text)
    return inner.strip("\n").replace("\n", " ")


JAVASCRIPT = Grammar(
    "tree_sitter_javascript",
    NAMING,
    ordering=ORDERING,
    comments=kinds("comment html_comment"),
    orders=re.compile(r"^///\s*<|@jsx|@ts-|webpack|@vite-ignore|__PURE__"),
    verbatim=kinds("regex hash_bang_line"),
    placed={("variable_declaration", None): "var_declarator"},
    unwrapped=kinds("parenthesized_expression"),
    keeps_wrapped=kinds("optional_chain expression_statement"),
    bare=kinds("formal_parameters"),
    trailing=kinds(
        "arguments formal_parameters array object array_pattern object_pattern "
        "named_imports export_clause type_parameters type_arguments enum_body tuple_type"
    ),
    separators={
        **dict.fromkeys(ENDED, ENDS),
        "interface_body": kinds("; ,"),
        "object_type": kinds("; ,"),
        "named_imports": kinds(","),
    },
    wraps={("arrow_function", "parameter"): "formal_parameters"},
    special={
        "string": text_of,
        "number": lambda _node, text: text.lower(),
        "jsx_text": words_of,
    },
)
TYPESCRIPT = replace(JAVASCRIPT, package="tree_sitter_typescript", function="language_typescript")
TSX = replace(JAVASCRIPT, package="tree_sitter_typescript", function="language_tsx")
