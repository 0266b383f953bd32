"""One exception tree.

KetsugiError                      anything of ours
├── UserError(key, **values)      meant for a person: a phrase key, shown in the reader's language
│   ├── BadInput                  what was entered cannot be used; says what to do
│   ├── NotAllowed                rights are missing at the moment of the act
│   ├── NoMeeting                 the channel has no open meeting
│   └── AlreadyOpen               the channel has one already
├── ConfigError(text)             start-up cannot go on; one line that says what to do
├── StoreError                    the database cannot be used as it is
├── ModelError                    a provider gave nothing usable (see subclasses in models.base)
└── StageError                    Discord refused or may have refused (see subclasses in bot.stage)
"""

from __future__ import annotations


class KetsugiError(Exception):
    pass


class UserError(KetsugiError):
    """Carries a phrase key and its values; `phrases.t(error.key, language, **error.values)` is the reply."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key = key
        self.values = values


class BadInput(UserError):
    pass


class NotAllowed(UserError):
    pass


class NoMeeting(UserError):
    def __init__(self, key: str = "error.no_meeting", **values: object) -> None:
        super().__init__(key, **values)


class AlreadyOpen(UserError):
    def __init__(self, key: str = "error.already_open", **values: object) -> None:
        super().__init__(key, **values)


class ConfigError(KetsugiError):
    pass


class StoreError(KetsugiError):
    pass


class ModelError(KetsugiError):
    pass


class StageError(KetsugiError):
    pass
