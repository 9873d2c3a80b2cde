"""`python -m tickbird` is the command line."""

from tickbird.cli import main

if __name__ == "__main__":
    main()
