"""Finished points on the disk: the key of each, and whether what is there can be believed."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from flyloom.support.files import sha256, write_soon

KEY_SCHEME = 2
"""The version of the keys: 1 had the whole program in them, 2 has the sources that a point uses."""

POINT_SCHEMA = 1
POINT_KEYS = {
    "label", "engine", "lmc", "layers", "options", "lanes", "verify", "load", "ebb",
    "measures", "digest",
}
"""What every kept point has; ``deploy`` comes where there was a fabric."""


def key(asked: dict[str, Any]) -> str:
    """The digest of all that a point asks for: 32 hexadecimal digits."""
    return content_digest({"keys": KEY_SCHEME, **asked})[:32]


def keep(path: Path, record: dict[str, Any]) -> None:
    """Writes a finished point for runs to come, with the digest of its content. Its name is on the
    disk after `flyloom.support.files.sync_folder`."""
    content = {**record, "schema": POINT_SCHEMA}
    text = json.dumps({**content, "sha256": content_digest(content)})
    write_soon(path, text)


def kept(
    path: Path, keys: Collection[str] = POINT_KEYS
) -> dict[str, Any] | str:
    """The finished point that `keep` wrote as ``path``, or another record with these keys; or in
    words why it cannot be believed."""
    if not path.is_file():
        return "is no regular file"
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        digest = content.pop("sha256")
        if digest != content_digest(content):
            return "altered since it was kept"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return "cut, or not what a run keeps"
    if content.get("digest") != path.stem:
        return "kept for another point"
    if content.pop("schema", None) != POINT_SCHEMA or set(content) - {"deploy"} != set(keys):
        return "kept by another version"
    return content


def content_digest(content: dict[str, Any]) -> str:
    """The digest of what JSON says, however it is laid out."""
    return sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
