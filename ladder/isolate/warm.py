"""What Ladder offers bots in compiled form, made ready in the zygote: children cannot compile.

A child may neither read the compiler nor the cache of compiled code; but what its zygote has
compiled it inherits. Only Ladder's own code is compiled here.
"""

from __future__ import annotations

import os
import re

from ladder.isolate.verdict import Bundle

DICE = re.compile(rb"pasha(\.dice|\s+import\s[^\n]*\bdice)\b")


def needs(bundle: Bundle) -> tuple[str, ...]:
    """What the zygote of this bot imports first: modules, or `module:function` to call besides."""
    sources = [content for _, content in bundle.files]
    found = ["numpy"] if any(b"numpy" in source for source in sources) else []
    if any(DICE.search(source) for source in sources):
        found = ["numpy", "ladder.isolate.warm:pasha_dice"]
    return tuple(found)


def settings() -> dict[str, str]:
    """The environment of ours that compiling depends on; the zygote forgets it afterwards."""
    from ladder.jit import cache_root

    return {
        "LADDER_CACHE_DIR": str(cache_root()),
        "XDG_CACHE_HOME": str(cache_root()),  # there may be no home where the zygote runs
        "LADDER_CHECKED": os.environ.get("LADDER_CHECKED", "0"),
    }


def pasha_dice() -> None:
    """Compile the dice plans of Pasha, or read them from the cache."""
    from ladder.games.pasha.dice import Plan

    Plan([float(mark) for mark in range(37)]).distribution()
