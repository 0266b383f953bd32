"""Ready-made sets of roles, in every language (data/panel/<language>.toml)."""

from __future__ import annotations

import tomllib
from functools import cache

from bot.errors import BadInput
from bot.meeting.model import Language
from bot.panel.roles import Role
from bot.phrases import DATA

PRESETS = ("product", "debate", "launch", "budget")


@cache
def presets(language: Language) -> dict[str, tuple[Role, ...]]:
    given = tomllib.loads((DATA / "panel" / f"{language}.toml").read_text(encoding="utf-8"))
    return {
        key: tuple(Role(name, standpoint) for name, standpoint in row.items()) for key, row in given.items()
    }


def preset(key: str, language: Language) -> tuple[Role, ...]:
    """Raises BadInput for a set that does not exist."""
    found = presets(language).get(key)
    if found is None:
        raise BadInput("panel.error.unknown_preset")
    return found


def as_text(roles: tuple[Role, ...], language: Language) -> str:
    """As people enter roles, one a line."""
    colon = "：" if language == "ja" else ": "
    return "\n".join(f"{role.name}{colon}{role.standpoint}" for role in roles)
