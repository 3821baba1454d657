"""Bots of strangers, in child processes that can touch nothing (Linux x86-64).

`player.IsolatedPlayer` is what a driver uses, `nursery.Nurseries` what it is made with,
`probe.probe` what this machine offers. Nothing is imported here: the children import parts of
this package, and should not carry the rest.

What is *not* promised: a fault of the kernel itself; what colluding bots tell each other through
the timing of shared hardware; that the source of installed libraries stays secret, or the names
and sizes of files (their contents do); in `sandbox`, that a bot forgets earlier matches of a chunk.
"""
