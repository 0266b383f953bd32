"""Settings: what holds where nothing is said, the names in the environment, and secrets that stay secret."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bot.run import bad_settings
from bot.settings import OFFLINE, Settings

TOKEN = "made-up-token"
KEY = "made-up-key"


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable and no .env of whoever runs the tests."""
    for name in list(os.environ):
        if name.upper().startswith(("KETSUGI_", "DISCORD_", "GEMINI_")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_nothing_set_gives_a_bot_that_needs_only_a_token() -> None:
    settings = Settings()
    assert settings.discord_token is None
    assert settings.gemini_api_key is None
    assert settings.gemini_base_url is None
    assert (settings.main_model, settings.ask_model) == (OFFLINE, OFFLINE)
    assert settings.known_models == (OFFLINE,)
    assert (settings.language, settings.timezone) == ("en", "UTC")
    assert (settings.deadline_s, settings.minutes_deadline_s) == (25.0, 120.0)
    assert settings.retention_days == 90
    assert (settings.messages_per_day, settings.generations_per_day) == (20_000, 2_000)
    assert settings.cost_per_day is None
    assert settings.log_level == "INFO"
    assert settings.seed is None
    assert settings.database_path is not None
    assert settings.database_path.parts[-3:] == ("data", "var", "ketsugi.db")


@pytest.mark.parametrize(
    ("name", "value", "field", "expected"),
    [
        ("KETSUGI_DATABASE_URL", "sqlite+aiosqlite:///x.db", "database_url", "sqlite+aiosqlite:///x.db"),
        ("KETSUGI_MODEL", "offline", "model", "offline"),
        ("KETSUGI_LIGHT_MODEL", "other", "light_model", "other"),
        ("KETSUGI_MODELS", "a,b", "models", "a,b"),
        ("KETSUGI_MESSAGES_PER_DAY", "7", "messages_per_day", 7),
        ("KETSUGI_GENERATIONS_PER_DAY", "8", "generations_per_day", 8),
        ("KETSUGI_COST_PER_DAY", "1.5", "cost_per_day", 1.5),
        ("KETSUGI_LANGUAGE", "ja", "language", "ja"),
        ("KETSUGI_TIMEZONE", "Asia/Tokyo", "timezone", "Asia/Tokyo"),
        ("KETSUGI_RETENTION_DAYS", "30", "retention_days", 30),
        ("KETSUGI_DEADLINE_S", "20", "deadline_s", 20.0),
        ("KETSUGI_MINUTES_DEADLINE_S", "60", "minutes_deadline_s", 60.0),
        ("KETSUGI_LOG_LEVEL", "DEBUG", "log_level", "DEBUG"),
        ("KETSUGI_SEED", "3", "seed", 3),
        ("GEMINI_BASE_URL", "http://127.0.0.1:1", "gemini_base_url", "http://127.0.0.1:1"),
    ],
)
def test_each_setting_has_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, field: str, expected: Any
) -> None:
    monkeypatch.setenv(name, value)
    assert getattr(Settings(), field) == expected


def test_token_and_key_keep_their_usual_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", TOKEN)
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    settings = Settings()
    assert settings.discord_token is not None
    assert settings.discord_token.get_secret_value() == TOKEN
    assert settings.gemini_api_key is not None
    assert settings.gemini_api_key.get_secret_value() == KEY


def test_a_file_in_the_folder_counts_less_than_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("KETSUGI_LANGUAGE=ja\nKETSUGI_SEED=1\nOF_SOMEBODY_ELSE=x\n")
    monkeypatch.setenv("KETSUGI_SEED", "2")
    settings = Settings()
    assert (settings.language, settings.seed) == ("ja", 2)


@pytest.mark.parametrize(
    ("given", "main", "ask"),
    [
        ({}, OFFLINE, OFFLINE),
        ({"gemini_api_key": KEY}, "gemini-3.8-flash", "gemini-3.5-flash-lite"),
        ({"gemini_api_key": KEY, "model": OFFLINE}, OFFLINE, OFFLINE),
        ({"gemini_api_key": KEY, "model": "own"}, "own", "own"),
        ({"gemini_api_key": KEY, "light_model": "small"}, "gemini-3.8-flash", "small"),
        ({"gemini_api_key": KEY, "model": "own", "light_model": "small"}, "own", "small"),
    ],
)
def test_which_model_thinks_and_which_answers_questions(given: dict[str, str], main: str, ask: str) -> None:
    settings = Settings(**given)  # type: ignore[arg-type]
    assert (settings.main_model, settings.ask_model) == (main, ask)


def test_a_server_may_choose_only_what_can_be_reached() -> None:
    named = " gemini-a, ,gemini-b,gemini-a "
    assert Settings(models=named).known_models == (OFFLINE,)
    with_key = Settings(models=named, gemini_api_key=KEY)  # type: ignore[arg-type]
    assert with_key.known_models == (
        "gemini-3.8-flash",
        "gemini-3.5-flash-lite",
        "gemini-a",
        "gemini-b",
        OFFLINE,
    )
    assert Settings(models=named, gemini_base_url="http://127.0.0.1:1").known_models == (
        OFFLINE,
        "gemini-a",
        "gemini-b",
    )


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite+aiosqlite:///some/where.db", Path("some/where.db")),
        ("sqlite+aiosqlite:////some/where.db", Path("/some/where.db")),
        ("sqlite:///some/where.db", Path("some/where.db")),
        ("sqlite+aiosqlite:///:memory:", None),
        ("sqlite://", None),
        ("postgresql://user:word@host/name", None),
    ],
)
def test_where_the_database_file_is(url: str, path: Path | None) -> None:
    assert Settings(database_url=url).database_path == path


def test_no_secret_shows_in_what_is_printed() -> None:
    settings = Settings(discord_token=TOKEN, gemini_api_key=KEY)  # type: ignore[arg-type]
    shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert TOKEN not in shown
    assert KEY not in shown


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("KETSUGI_LANGUAGE", "de"),
        ("KETSUGI_RETENTION_DAYS", "0"),
        ("KETSUGI_RETENTION_DAYS", "4000"),
        ("KETSUGI_DEADLINE_S", "soon"),
        ("KETSUGI_DEADLINE_S", "1"),
        ("KETSUGI_MINUTES_DEADLINE_S", "601"),
        ("KETSUGI_MESSAGES_PER_DAY", "0"),
        ("KETSUGI_GENERATIONS_PER_DAY", "-1"),
        ("KETSUGI_COST_PER_DAY", "0"),
        ("KETSUGI_LOG_LEVEL", "LOUD"),
        ("KETSUGI_SEED", "abc"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_without_its_value(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as caught:
        Settings()
    assert bad_settings(caught.value) == name
    if len(value) > 2:
        assert repr(value) not in str(caught.value)
