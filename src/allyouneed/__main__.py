"""`python -m allyouneed`: the command line, for what starts modules, as `torchrun -m` does."""

from allyouneed.cli.app import main

if __name__ == "__main__":
    main()
