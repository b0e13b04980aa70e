"""`python -m jtensor script.py args...`; see `jtensor.alias.run`."""

from jtensor.alias.run import main

if __name__ == "__main__":
    main()
