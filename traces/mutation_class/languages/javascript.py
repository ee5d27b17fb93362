"""JavaScript and TypeScript, with JSX. Quotes, semicolons and trailing commas do not count."""

from __future__ import annotations

import re
from dataclasses import replace

from tree_sitter import Node

from traces.mutation_class.forms import NormalNode
from traces.mutation_class.languages.grammar import (
    Binds,
    Container,
    Grammar,
    NameRole,
    Naming,
    Ordering,
    PublicNameRules,
    ScopeKind,
    parse_kinds,
    parse_positions,
)

FUNCTIONS = parse_kinds(
    "function_declaration generator_function_declaration function_expression "
    "generator_function arrow_function method_definition"
)
CLASSES = parse_kinds("class_declaration abstract_class_declaration class")
TYPES = parse_kinds("interface_declaration type_alias_declaration")
BLOCKS = parse_kinds(
    "statement_block for_statement for_in_statement catch_clause switch_body function_type "
    "function_signature method_signature"
)
DECLARATION_KEYWORDS = ("let", "const", "var", "using")
SEMICOLON = parse_kinds(";")
SEMICOLON_ENDED = parse_kinds(
    "expression_statement lexical_declaration variable_declaration return_statement throw_statement "
    "break_statement continue_statement import_statement export_statement do_statement debugger_statement "
    "class_body type_alias_declaration function_signature ambient_declaration"
)


def is_private(declaration: Node) -> bool:
    """Whether TypeScript keeps a member inside of its class."""
    return any(
        child.type == "accessibility_modifier" and child.text == b"private" for child in declaration.children
    )


def find_exported(node: Node) -> str:
    """Return the name that `export { name }` or `export default name` exports."""
    name = node.child_by_field_name("name" if node.type == "export_specifier" else "value")
    is_named = name is not None and name.type == "identifier" and node.child_by_field_name("alias") is None
    return (name.text or b"").decode("utf-8", "surrogateescape") if name is not None and is_named else ""


def wrap_parameters(parameters: NormalNode) -> list[NormalNode]:
    """Write TypeScript's `x => …` like `(x) => …`."""
    parameters.children = [
        NormalNode("required_parameter", children=[child]) if child.kind == "identifier" else child
        for child in parameters.children
    ]
    return [parameters]


def drop_unused_parameter(clause: NormalNode) -> list[NormalNode]:
    """Write `catch (error)` without a use of the error as `catch`."""
    parameters = [child for child in clause.children if child.field == "parameter"]
    body = [child for child in clause.children if child.field == "body"]
    names = {node.text for parameter in parameters for node in parameter.walk() if node.role}
    is_plain = all(parameter.kind == "identifier" for parameter in parameters)
    if is_plain and not any(node.text in names for child in body for node in child.walk() if node.role):
        clause.children = [clause.children[0], *body]
    return [clause]


NAMING = Naming(
    roles={
        "identifier": NameRole.NAME,
        "type_identifier": NameRole.NAME,
        "property_identifier": NameRole.MEMBER,
        "private_property_identifier": NameRole.MEMBER,
        "shorthand_property_identifier": NameRole.NAME_AND_MEMBER,
        "shorthand_property_identifier_pattern": NameRole.NAME_AND_MEMBER,
        "statement_identifier": NameRole.EXTERNAL,
    },
    roles_by_position={
        ("import_specifier", "name"): NameRole.EXTERNAL,
        ("export_specifier", "alias"): NameRole.EXTERNAL,
        ("namespace_export", None): NameRole.EXTERNAL,
    },
    bindings={
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
    required_siblings={("for_in_statement", "left"): frozenset(DECLARATION_KEYWORDS)},
    patterns=parse_kinds("object_pattern array_pattern rest_pattern"),
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
    member_positions=parse_positions(
        "method_definition.name field_definition.property public_field_definition.name "
        "abstract_method_signature.name"
    ),
    base_class_children=frozenset((kind, "class_heritage") for kind in CLASSES),
    property_modifiers={
        ("required_parameter", "pattern"): parse_kinds("accessibility_modifier override_modifier readonly")
    },
    assignments=parse_kinds("assignment_expression"),
    self_attribute=("member_expression", "object", parse_kinds("this")),
    hides_class_scope=True,
    public=PublicNameRules(
        private=re.compile("#"),
        exports=parse_kinds("export_statement"),
        exporting=parse_kinds("export_specifier export_statement"),
        find_exported=find_exported,
        module_syntax=parse_kinds("import_statement export_statement require module exports"),
        imports=parse_kinds("import_statement"),
        type_parameters=parse_positions("type_parameter.name"),
        modified=parse_kinds(
            "method_definition public_field_definition abstract_method_signature required_parameter"
        ),
        is_private=is_private,
        reflection=parse_kinds("eval"),
    ),
    name_patterns=re.compile(
        r"(?P<fixed>(?:constructor|toString|valueOf|toJSON|then|default|arguments)$)"
        r"|(?P<hook>use[A-Z])|(?P<capital>[A-Z])|(?P<hidden>#)"
    ),
)

TOP_LEVEL = parse_kinds(
    "function_declaration generator_function_declaration class_declaration "
    "abstract_class_declaration interface_declaration type_alias_declaration "
    "function_signature"
)
TOP_LEVEL_CONTAINER = Container(
    definitions=TOP_LEVEL, imports=parse_kinds("import_statement"), values=parse_kinds("lexical_declaration")
)
ORDERING = Ordering(
    containers={
        ("program", ""): TOP_LEVEL_CONTAINER,
        ("class_body", "*"): Container(
            definitions=parse_kinds("method_definition abstract_method_signature"),
            values=parse_kinds("field_definition public_field_definition"),
            keeps_value_order=True,
        ),
        ("interface_body", "*"): Container(definitions=parse_kinds("property_signature method_signature")),
        ("named_imports", "*"): Container(imports=parse_kinds("import_specifier")),
    },
    wrappers=parse_kinds("export_statement"),
    binding_imports=parse_kinds("import_clause import_specifier"),
    deferred=frozenset((kind, "body") for kind in FUNCTIONS)
    | parse_positions(
        "interface_declaration.body type_alias_declaration.value function_signature.parameters "
        "function_signature.return_type function_declaration.return_type required_parameter.type "
        "optional_parameter.type variable_declarator.type"
    ),
    executing=parse_kinds(
        "call_expression new_expression await_expression yield_expression "
        "member_expression subscript_expression assignment_expression "
        "augmented_assignment_expression update_expression template_substitution class "
        "computed_property_name spread_element jsx_element jsx_self_closing_element"
    ),
    decorators=parse_kinds("decorator computed_property_name"),
    attached=parse_kinds("decorator"),
    attached_is_fixed=True,
)

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LINE_BREAKS = re.compile(r"[ \t\r]*\n\s*")


def normalize_string(node: Node, text: str) -> str:
    """Return a string without its quotes, and without backslashes that only one kind of quote needs."""
    if node.parent is not None and node.parent.type == "jsx_attribute":
        return text[1:-1]
    return _ESCAPE.sub(lambda found: found[1] if found[1] in "'\"" else found[0], text[1:-1])


def normalize_template(node: Node, text: str) -> str | None:
    """Return a template without parts or escapes as the string that it is; None for any other."""
    is_directive = node.parent is not None and node.parent.type == "expression_statement"
    is_tagged = node.parent is not None and node.parent.type == "call_expression"
    is_plain = "${" not in text and "\\" not in text and "\n" not in text
    return text[1:-1] if is_plain and not is_directive and not is_tagged else None


def normalize_jsx_text(_node: Node, text: str) -> str:
    """Return text between tags as JSX reads it: a line break with its blanks is one blank, or none at an
    end.
    """
    inner = _LINE_BREAKS.sub("\n", text)
    return inner.strip("\n").replace("\n", " ")


JAVASCRIPT = Grammar(
    "tree_sitter_javascript",
    NAMING,
    ordering=ORDERING,
    comments=parse_kinds("comment html_comment"),
    directives=re.compile(r"^///\s*<|@jsx|@ts-|webpack|@vite-ignore|__PURE__"),
    verbatim=parse_kinds("regex hash_bang_line"),
    kinds_by_position={("variable_declaration", None): "var_declarator"},
    transparent=parse_kinds("parenthesized_expression"),
    keeps_parentheses=parse_kinds("optional_chain expression_statement"),
    without_parentheses=parse_kinds("formal_parameters"),
    trailing=parse_kinds(
        "arguments formal_parameters array object array_pattern object_pattern "
        "named_imports export_clause type_parameters type_arguments enum_body tuple_type"
    ),
    separators={
        **dict.fromkeys(SEMICOLON_ENDED, SEMICOLON),
        "interface_body": parse_kinds("; ,"),
        "object_type": parse_kinds("; ,"),
        "named_imports": parse_kinds(","),
    },
    aliases={"template_string": "string"},
    implicit_parents={("arrow_function", "parameter"): "formal_parameters"},
    strings=parse_kinds("string"),
    rewrites={"catch_clause": drop_unused_parameter},
    shorthands={
        "shorthand_property_identifier": ("pair", "property_identifier", "identifier"),
        "shorthand_property_identifier_pattern": ("pair_pattern", "property_identifier", "identifier"),
    },
    converters={
        "string": normalize_string,
        "template_string": normalize_template,
        "number": lambda _node, text: text.lower(),
        "jsx_text": normalize_jsx_text,
    },
)
TYPESCRIPT = replace(
    JAVASCRIPT,
    package="tree_sitter_typescript",
    function="language_typescript",
    rewrites={**JAVASCRIPT.rewrites, "formal_parameters": wrap_parameters},
)
TSX = replace(TYPESCRIPT, function="language_tsx")
