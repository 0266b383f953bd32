"""One digest over a frozen post and the rows it was made from, kept with the post (`ketsugi verify`)."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from datetime import UTC

from bot.stage import Outgoing
from bot.store.minutes import Erratum

SEAL = "seal"  # its key in the post's payload


def seal(post: Outgoing, *rows: str) -> str:
    """Hex SHA-256 over what people see of `post` (text, embeds, files) and over the stored texts `rows`."""
    seen = {
        "text": post.text,
        "language": post.language,
        "embeds": [asdict(embed) for embed in post.embeds],
        "files": [[file.name, hashlib.sha256(file.content).hexdigest()] for file in post.files],
        "rows": rows,
    }
    return hashlib.sha256(json.dumps(seen, sort_keys=True).encode()).hexdigest()


def erratum_rows(erratum: Erratum) -> tuple[str, ...]:
    """What of an erratum's row is sealed with its post."""
    at = erratum.at.astimezone(UTC).isoformat()
    return (str(erratum.number), erratum.text, str(erratum.author_id), erratum.author_name, at)
