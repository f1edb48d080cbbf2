"""`python -m allyouneed` runs the command line. `torchrun -m allyouneed` needs this module too."""

from allyouneed.cli.app import main

if __name__ == "__main__":
    main()
