"""Programs that misbehave, in one file: `python programs.py KIND`."""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    kind = sys.argv[1]
    hoard = []
    seen = dict[int, int]()
    for line in sys.stdin:
        message = json.loads(line)
        if "protocol" in message:
            if kind == "silent":
                time.sleep(60)
            if kind == "wrong":
                print("hello", flush=True)
                continue
            if kind == "quits":
                sys.exit("cannot find my book")
            print('{"protocol": 1}', flush=True)
            continue
        if "start" in message:
            continue
        view, match = message["view"], message["match"]
        seen[match] = seen.get(match, 0) + 1
        is_bad = view["lead"] < -40
        if kind == "hangs" and is_bad:
            time.sleep(60)
        elif kind == "dies" and is_bad:
            sys.stderr.write("farewell\n")
            sys.stderr.flush()
            os.abort()
        elif kind == "grows" and is_bad:
            while True:
                hoard.append(b"x" * 2**25)
                time.sleep(0.01)
        elif kind == "babbles" and is_bad:
            print("twenty chips", flush=True)
        elif kind == "floods" and is_bad:
            sys.stdout.write("x" * 200_000)
            sys.stdout.flush()
        elif kind == "illegal" and is_bad:
            print('{"action": 7}', flush=True)
        elif kind == "float" and is_bad:
            print('{"action": 5.0}', flush=True)
        elif kind == "counts":  # the least, the most, in turn
            print(view["legal"][0 if seen[match] % 2 else -1], flush=True)
        else:
            print(view["legal"][-1], flush=True)


if __name__ == "__main__":
    main()
