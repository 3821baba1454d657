"""What the solver hands to compiled code."""

from __future__ import annotations

from typing import Any, NamedTuple

SPREAD, FINISH, SOLVE, SOLVE_END = 0, 1, 2, 3  # what is done to a level
PLACES = 4  # round the table from the thrower; at fewer seats places 1 and 2 stay empty
LANES = 64  # positions that are worked on side by side


class Mat(NamedTuple):
    """The table and the turn that a level belongs to."""

    seats: int
    total: int  # units on the table
    positions: int
    unit: int  # chips in a unit
    plane: Any  # rank of the first position of each x1
    seat: Any  # by place; where there is none, one whose pile is always empty
    most: Any  # by place: no reachable position of this turn has more units there
    turn: int
    num_best: int
    tie: float  # values closer than this are equal, and the smaller stake is taken
    negligible: float  # positions less likely than this are dropped


class Asked(NamedTuple):
    """The policies of a line-up, by group: seats with one policy and params are one group."""

    groups: Any  # by seat: the group, or -1 - k for the best seat k
    stakes: Any  # addresses of the compiled policies
    luck_ways: Any  # addresses of what declares their mixtures, 0 for none
    reads_mat: Any  # whether they can see the stakes put down before theirs
    params: Any  # a row each


class Span(NamedTuple):
    """Neighbouring positions with the same stakings: (x0 - i, x1, x2, x3 + i) for 0 <= i < size."""

    size: int  # at most LANES
    x0: int
    x1: int
    x2: int
    x3: int


class Work(NamedTuple):
    """One thread's scratch, flat: by place and slot, or place and option, then by lane.

    A slot is an option of a menu, see `menus`; a lane is a position of the span.
    """

    slots: int  # slots of a place
    options: int  # the most options a menu has
    row: Any  # the state row the policies are shown
    now: Any  # a number for the span looked at
    known: Any  # by place and menu: the span for which `weights` were asked
    is_used: Any  # by place and slot: whether it is chosen in any lane
    weights: Any  # by place, slot and lane: how likely it is chosen
    values: Any  # by place, option, best seat and lane: what they win if it is chosen
    masses: Any  # by place and lane: the probability of coming there
    best: Any  # by lane: the best value so far
    choice: Any  # by lane: the option that has it
    finals: Any  # win share by seat, draw, dropped, then the final piles' distribution by seat
    fault: Any  # whether there was an illegal stake, and which
