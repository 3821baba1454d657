"""TrueSkill for free-for-all matches: right, fast, and honest about ties and order.

Arrays in, arrays out: nothing here knows of stores, specs or names. What compiles is imported when
it is first used, so that a command which rates nothing does not pay for numba.
"""
