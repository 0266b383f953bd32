"""What goes over Gemini's wire and comes back, without the SDK: schemas in, JSON out. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from bot.models.base import Out

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_TYPES = {"object": "OBJECT", "array": "ARRAY", "string": "STRING", "integer": "INTEGER"} | {
    "number": "NUMBER",
    "boolean": "BOOLEAN",
}
_STARTS = 20  # places in a text at which an object is looked for; prose full of braces is no answer


def response_schema(output: type[BaseModel]) -> dict[str, Any]:
    """The answer type as Gemini's own schema: references resolved, `X | None` as nullable, every field
    required.

    Titles, defaults and docstrings are left out: they cost tokens each call, and docstrings are for us.
    Raises ValueError for what the API refuses or silently empties: dicts, tuples, other unions, recursion,
    bounds.
    """
    whole = output.model_json_schema()
    return _node(whole, whole.get("$defs", {}), ())


def _node(node: dict[str, Any], defs: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        if name in path:
            raise ValueError(f"{name} refers to itself")
        return _node(defs[name], defs, (*path, name))
    if "anyOf" in node:
        real = [n for n in node["anyOf"] if n.get("type") != "null"]
        if len(real) != 1 or len(real) == len(node["anyOf"]):
            raise ValueError("a union other than with null")
        return _node(real[0], defs, path) | {"nullable": True}
    if refused := {"additionalProperties", "prefixItems", "exclusiveMinimum", "exclusiveMaximum"} & set(node):
        raise ValueError(f"not accepted in a schema: {', '.join(sorted(refused))}")
    found: dict[str, Any] = {"type": _TYPES[node["type"]]}
    if "enum" in node:
        found["enum"] = list(node["enum"])
    if node["type"] == "array":
        found["items"] = _node(node["items"], defs, path)
    if node["type"] == "object":
        found["properties"] = {k: _node(v, defs, path) for k, v in node["properties"].items()}
        found["required"] = found["property_ordering"] = list(node["properties"])
    return found


def read_answer(text: str, output: type[Out]) -> Out | None:
    """The first JSON object in `text` that is of the asked type, or None.

    Code fences and prose around the object are cut away; a null stands for a field left out. Nothing is
    guessed: a half object and wrong types are None.
    """
    for found in _objects(text):
        given = {key: value for key, value in found.items() if value is not None}
        if not output.model_fields.keys() & given.keys():
            continue
        try:
            return output.model_validate(given)
        except ValidationError:
            continue
    return None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    for candidate in [text, *_FENCE.findall(text)]:
        try:
            whole = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(whole, dict):
            yield whole
    at = -1
    for _ in range(_STARTS):
        at = text.find("{", at + 1)
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
        at = end - 1


def retry_delay(details: object) -> float | None:
    """Seconds of the RetryInfo in an error's body ("2s", "0.05s"), or None. The SDK itself ignores it."""
    error = details.get("error", details) if isinstance(details, dict) else None
    infos = error.get("details") if isinstance(error, dict) else None
    for info in infos if isinstance(infos, list) else ():
        if not isinstance(info, dict) or not str(info.get("@type", "")).endswith("google.rpc.RetryInfo"):
            continue
        if told := re.fullmatch(r"(\d+(?:\.\d+)?)s", str(info.get("retryDelay", ""))):
            return float(told[1])
    return None
