"""Settings of the process, from the environment (prefix KETSUGI_) or a .env file. Never built at import.

DISCORD_TOKEN, GEMINI_API_KEY and GEMINI_BASE_URL keep their usual names.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import AliasChoices, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.meeting.model import Language
from bot.phrases import DATA

OFFLINE = "offline"


def default_database() -> str:
    return f"sqlite+aiosqlite:///{(DATA / 'var' / 'ketsugi.db').as_posix()}"


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="KETSUGI_",
        env_file=".env",
        extra="ignore",
        populate_by_name=True,
        hide_input_in_errors=True,
    )

    discord_token: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("DISCORD_TOKEN", "discord_token")
    )
    gemini_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("GEMINI_API_KEY", "gemini_api_key")
    )
    gemini_base_url: str | None = Field(
        default=None, validation_alias=AliasChoices("GEMINI_BASE_URL", "gemini_base_url")
    )
    database_url: str = Field(default_factory=default_database)
    # "" = gemini-3.8-flash and gemini-3.5-flash-lite by route where a key is set, else the offline engine.
    model: str = ""
    light_model: str = ""
    # Models that servers may choose for themselves, separated by commas, beside the two above and "offline".
    models: str = "gemini-3.8-flash,gemini-3.5-flash-lite"
    # The most that one server uses a day; /settings lowers it for a server. Beyond it no model is asked.
    messages_per_day: int = Field(default=20_000, ge=1)
    generations_per_day: int = Field(default=2_000, ge=1)
    cost_per_day: float | None = Field(default=None, gt=0)  # US dollars, by data/prices.toml
    # Answers by direct message that one person gets from a model.
    chats_per_day: int = Field(default=100, ge=1)
    language: Language = "en"
    timezone: str = "UTC"
    retention_days: int = Field(default=90, ge=1, le=3650)
    deadline_s: float = Field(default=25.0, gt=1, le=120)  # both generations of a post together (SPEC 3)
    minutes_deadline_s: float = Field(default=120.0, gt=1, le=600)
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    seed: int | None = None  # rehearsal and tests: makes salts and anything else random repeatable

    @field_validator("timezone")
    @classmethod
    def _known(cls, name: str) -> str:
        try:
            return name if name == "UTC" else ZoneInfo(name).key
        except (KeyError, ValueError, OSError) as error:
            raise ValueError("no such time zone") from error

    @property
    def main_model(self) -> str:
        if self.model:
            return self.model
        return "gemini-3.8-flash" if self.gemini_api_key else OFFLINE

    @property
    def ask_model(self) -> str:
        if self.light_model:
            return self.light_model
        if self.model:
            return self.model
        return "gemini-3.5-flash-lite" if self.gemini_api_key else OFFLINE

    @property
    def known_models(self) -> tuple[str, ...]:
        """What a server may choose: nothing that needs a key where there is none."""
        named = [name.strip() for name in self.models.split(",") if name.strip()]
        reachable = named if self.gemini_api_key or self.gemini_base_url else []
        return tuple(dict.fromkeys([self.main_model, self.ask_model, *reachable, OFFLINE]))

    @property
    def database_path(self) -> Path | None:
        """The SQLite file, or None where the database is not a file."""
        scheme, _, path = self.database_url.partition(":///")
        if scheme not in ("sqlite", "sqlite+aiosqlite") or not path or ":memory:" in path:
            return None
        return Path(path)
