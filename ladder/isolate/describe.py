"""Asks a locked-down child what a bot class is."""

from __future__ import annotations

from ladder.errors import BotLoadError, InfraError
from ladder.isolate import protocol
from ladder.isolate.nursery import Nurseries
from ladder.isolate.portrait import MAX_PORTRAIT, Portrait, parse_portrait
from ladder.isolate.process import Output
from ladder.isolate.served import Served
from ladder.isolate.verdict import Bundle, Limits, LostError
from ladder.isolate.warm import needs


def describe(
    bundle: Bundle, where: str, nurseries: Nurseries, limits: Limits | None = None
) -> Portrait:
    """What stands behind `bundle.bot`; `where` is what messages call its module.

    Raises: BotLoadError where it cannot be imported; InfraError; SpecError where this machine
    has no sandbox.
    """
    limits = limits if limits is not None else Limits()
    nursery = nurseries.get(strict=False, preload=needs(bundle))
    (child,) = nursery.spawn(1, limits.memory_mb, Output(limits.output_kb << 10))
    try:
        served = Served(child, limits, protocol.pack_bundle("", bundle))
        payload = served.describe(cap=MAX_PORTRAIT)
        return parse_portrait(payload)
    except LostError as lost:
        if lost.cause == "infra":
            raise InfraError(f"sandboxed child: {lost.detail}") from lost
        detail = lost.detail
        if lost.cause != "init_failed":
            detail = f"{lost.cause} while it was imported: {detail}"
        raise BotLoadError(f"{where}: {detail}") from lost
    except ValueError as error:
        raise BotLoadError(f"{where}: its description cannot be used: {error}") from error
    finally:
        nursery.dismiss(child)
