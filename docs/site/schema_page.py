"""The page of the experiment file: every table and key, from its schema."""

from __future__ import annotations

import json
import re

from flyloom import _core


def plain(text: str) -> str:
    """A description as Markdown in one cell of a table."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()).replace("|", "\\|"))
    return "".join(part if i % 2 else re.sub(r"([*_<>\[\]#~{}])", r"\\\1", part)
                   for i, part in enumerate(parts))


def kind(schema: dict) -> str:
    """What values a key takes, in a few words; a definition by its name."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(one)}`" for one in schema["enum"])
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            kinds = dict.fromkeys(kind(one) for one in schema[choice])
            return " or ".join(one for one in kinds if one)
    types = schema.get("type", "any")
    names = [types] if isinstance(types, str) else types
    words = [name for name in names if name != "null"]
    if words == ["array"]:
        items = schema.get("items")
        return f"list of {kind(items)}" if isinstance(items, dict) else "list"
    if words == ["object"] and isinstance(schema.get("additionalProperties"), dict):
        return f"table of {kind(schema['additionalProperties'])}"
    return " or ".join({"object": "table", "array": "list"}.get(word, word) for word in words)


def rows(schema: dict, before: str = "") -> list[str]:
    """The keys of a table, and of the tables inside it, a line each."""
    found = []
    for name, one in schema.get("properties", {}).items():
        default = f"`{json.dumps(one['default'])}`" if one.get("default") is not None else ""
        found.append(f"| `{before}{name}` | {kind(one)} | {plain(one.get('description', ''))} "
                     f"| {default} |")
        found += rows(one, f"{before}{name}.")
    return found


def section(title: str, schema: dict) -> str:
    """A definition as a section."""
    parts = [f"## {title}"]
    if schema.get("description"):
        parts.append(plain(schema["description"]))
    lines = rows(schema)
    choices = [one for choice in ("anyOf", "oneOf") for one in schema.get(choice, [])]
    if lines:
        parts.append("\n".join(["| key | takes | is | default |", "|---|---|---|---|", *lines]))
    elif choices:
        parts.append("\n".join(["| takes | is |", "|---|---|", *(
            f"| {kind(one)} | {plain(one.get('description', ''))} |" for one in choices)]))
    else:
        parts.append(f"Takes: {kind(schema)}.")
    return "\n\n".join(parts)


def pages() -> dict[str, str]:
    """The one page, by its name."""
    schema = _core.experiment_schema()
    sections = [section("The file", schema)]
    sections += [section(name, one) for name, one in sorted(schema.get("$defs", {}).items())]
    return {"experiment-schema": (
        "# Keys of the experiment file\n\nWhat `flyloom run` reads, table by table, from the "
        "schema that `flyloom schema` prints. [Experiments](experiments.md) says what they do.\n\n"
        + "\n\n".join(sections) + "\n")}
