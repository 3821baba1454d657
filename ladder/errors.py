"""The errors a user can cause or meet, by kind; the command line turns each into one line."""


class LadderError(Exception):
    """Parent of everything a command reports as one readable line."""

    exit_code = 3


class SpecError(LadderError):
    """A spec, table or argument that cannot be used; `problems` holds one line each."""

    exit_code = 2

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems: tuple[str, ...] = problems


class BotLoadError(SpecError):
    """A bot that cannot be found, imported or given its params."""


class StoreError(LadderError):
    """A store that cannot be opened, read or written."""


class InfraError(LadderError):
    """A failure of ours or of the machine: a worker lost, Ray unreachable. Never a bot's fault."""


class BotFaultError(LadderError):
    """A bot faulted in a run that shall stop then (`on_fault: abort`)."""

    exit_code = 1

    def __init__(
        self, row: int, seat: int, decision: int, cause: str, detail: str, traceback: str
    ) -> None:
        super().__init__(row, seat, decision, cause, detail, traceback)
        self.row, self.seat, self.decision = row, seat, decision
        self.cause, self.detail, self.traceback = cause, detail, traceback


class IllegalActionError(ValueError):
    """An action that is not legal at the node where it was given."""


class ParseError(ValueError):
    """A text form that does not parse."""
