"""What every game's state row begins with, so that one driver steps them all.

A state is a flat row of ints. `advance(state, action)` applies an action and runs on to the next
node: a decision of one seat, a chance node (dice or a shuffle, so many equally likely outcomes),
or the end. An action is one int. A node with a single legal action is not stopped at: the action
is applied and counted as forced.
"""

from collections.abc import MutableSequence, Sequence

Row = MutableSequence[int]  # a list interpreted, an int64 array compiled
ReadRow = Sequence[int]

NODE = 0  # END, CHANCE, or a decision kind of the game (2 and up)
SEAT = 1  # the seat that decides
NUM_LEGAL = 2  # at a decision: how many actions are legal
LEGAL_AT = 3  # where in the row they stand; the first one is the default move
LUCK = 4  # at a decision: the seat's private random integer, put there by whoever steps
WAYS = 5  # at a chance node: how many equally likely outcomes, 0 <= action < ways
TERMINATION = 6  # at the end: why, an index into the game's `terminations`
FORCED = 7  # actions so far that were applied without asking
HEADER = 8

END, CHANCE = 0, 1
