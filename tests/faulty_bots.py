"""Bots that do what no bot should, one fault each, and some that only look as if they did."""

from __future__ import annotations

import random
import sys

import numpy as np

from ladder.games.pasa import PasaBot


class Raises(PasaBot):
    """Raises at every decision."""

    def stake(self, view):
        raise ValueError("I do not like this mat")


class RaisesOnce(PasaBot):
    """Raises at its third decision of a match, and stakes the most before and after."""

    def __init__(self):
        self.asked = 0

    def stake(self, view):
        self.asked += 1
        if self.asked == 3:
            raise RuntimeError("the third time")
        return view.most_stake


class PolicyRaises(PasaBot):
    """A policy that raises on some views."""

    @staticmethod
    def stake(view, params):
        if view.luck % 2:
            return 1 // 0
        return view.most_stake


class IllegalStake(PasaBot):
    """Stakes one chip more than it may."""

    def stake(self, view):
        return view.most_stake + 1


class Nought(PasaBot):
    """Stakes nothing."""

    def stake(self, view):
        return 0


class Negative(PasaBot):
    """Stakes less than nothing."""

    def stake(self, view):
        return -view.least_stake


class Float(PasaBot):
    """Stakes the right number as a float."""

    def stake(self, view):
        return float(view.least_stake)


class Nothing(PasaBot):
    """Forgets to return."""

    def stake(self, view):
        pass


class TrueStake(PasaBot):
    """Says yes, which Python takes for 1."""

    def stake(self, view):
        return True


class NumpyBool(PasaBot):
    """Says yes in numpy."""

    def stake(self, view):
        return np.True_


class Words(PasaBot):
    """Says its stake in words."""

    def stake(self, view):
        return "five"


class HugeInteger(PasaBot):
    """Stakes more than any machine word holds."""

    def stake(self, view):
        return 10**30


class WholeList(PasaBot):
    """Returns all that is legal."""

    def stake(self, view):
        return view.legal


class NumpyArray(PasaBot):
    """Returns an array."""

    def stake(self, view):
        return np.array(view.legal)


class Exits(PasaBot):
    """Tries to end the program."""

    def stake(self, view):
        sys.exit(3)


class Interrupts(PasaBot):
    """Raises what Ctrl-C raises."""

    def stake(self, view):
        raise KeyboardInterrupt("I want to go home")


class InterruptsInInit(PasaBot):
    """Raises it before the match."""

    def __init__(self):
        raise KeyboardInterrupt

    def stake(self, view):
        return view.least_stake


class GeneratorExits(PasaBot):
    """Raises what is no Exception."""

    def stake(self, view):
        raise GeneratorExit


class _Odd(BaseException):
    def __str__(self):
        raise ValueError("no text for you")


class RaisesUnprintable(PasaBot):
    """Raises an error whose text raises."""

    def stake(self, view):
        raise _Odd


class Recurses(PasaBot):
    """Calls itself for ever."""

    def stake(self, view):
        return self.stake(view)


class RaisesInInit(PasaBot):
    """Cannot be made."""

    def __init__(self):
        raise RuntimeError("not today")

    def stake(self, view):
        return view.least_stake


class InitWantsMore(PasaBot):
    """Wants to be made with an argument."""

    def __init__(self, friend):
        self.friend = friend

    def stake(self, view):
        return view.least_stake


class _Unshowable:
    def __repr__(self):
        raise ValueError("no")


class RaisesInRepr(PasaBot):
    """Returns an object that cannot be shown."""

    def stake(self, view):
        return _Unshowable()


class _Disguised:
    @property
    def __class__(self):
        raise RuntimeError("guess")

    def __index__(self):
        raise RuntimeError("guess")


class RaisesInClass(PasaBot):
    """Returns an object that raises when asked what it is."""

    def stake(self, view):
        return _Disguised()


class WritesToView(PasaBot):
    """Tries to give itself chips."""

    def stake(self, view):
        view.piles = (10**6,) * view.seats
        return view.least_stake


class NotAMethod(PasaBot):
    """Its stake is a number."""

    stake = 5


# --- all right after all


class NumpyInteger(PasaBot):
    """Stakes the least as a numpy integer."""

    def stake(self, view):
        return np.int32(view.least_stake)


class _Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class IndexObject(PasaBot):
    """Stakes the least as an object that is an integer."""

    def stake(self, view):
        return _Index(view.least_stake)


class Wasteful(PasaBot):
    """Draws 1,000 random numbers of its own at each decision, then stakes the least."""

    def stake(self, view):
        for _ in range(1000):
            random.random()
        np.random.default_rng(view.luck).integers(6, size=1000)
        random.seed(1)
        return view.least_stake


class Prints(PasaBot):
    """Prints, and stakes the least."""

    def stake(self, view):
        print("I stake the least")
        return view.least_stake


class Counts(PasaBot):
    """Stakes the least on its first decision of a match, then the most: a new object a match."""

    def __init__(self):
        self.count = 0

    def stake(self, view):
        self.count += 1
        return view.least_stake if self.count == 1 else view.most_stake
