"""Which model a name on the command line means: offline, a scripted double, or a Gemini model."""

from __future__ import annotations

from collections.abc import Sequence

from bot.clock import Clock
from bot.errors import ConfigError
from bot.evaluation.cases import Case
from bot.evaluation.scripted import PREFIX, SCRIPTS, ScriptedModel
from bot.evaluation.summariser import NAME as SUMMARISER
from bot.evaluation.summariser import Summariser
from bot.models.base import Model
from bot.models.gemini import GeminiModel
from bot.models.offline import OfflineModel
from bot.settings import OFFLINE, Settings


async def engine(name: str, cases: Sequence[Case], clock: Clock, settings: Settings | None = None) -> Model:
    """A model ready to be asked, without a circuit breaker: a failure is to be counted, not covered.

    Raises ConfigError for an unknown script, or where a provider's model has neither key nor base URL.
    """
    if name == OFFLINE:
        return OfflineModel()
    if name == SUMMARISER:
        return Summariser()
    if name.startswith(PREFIX):
        return scripted(name, cases)
    return await provider(name, clock, settings)


async def provider(name: str, clock: Clock, settings: Settings | None = None) -> Model:
    """A Gemini model by name, imported and connected. Raises ConfigError without key and base URL."""
    settings = settings or Settings()
    if settings.gemini_api_key is None and settings.gemini_base_url is None:
        raise ConfigError(
            f"the model {name} needs GEMINI_API_KEY (make one in Google AI Studio) or GEMINI_BASE_URL;"
            f" without either there are {OFFLINE} and {PREFIX}{{{','.join(SCRIPTS)}}}"
        )
    key = settings.gemini_api_key.get_secret_value() if settings.gemini_api_key else "local"
    model = GeminiModel(name, key, clock, base_url=settings.gemini_base_url)
    await model.prepare()
    return model


def scripted(name: str, cases: Sequence[Case]) -> ScriptedModel:
    """`scripted:<script>`, for random also `scripted:random:<seed>`."""
    script, _, seed = name.removeprefix(PREFIX).partition(":")
    if seed and not seed.isdigit():
        raise ConfigError(f"{name}: the seed must be a whole number")
    return ScriptedModel(script, cases, int(seed or 0))
