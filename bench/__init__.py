"""Speed beside other systems and beside the limits of the machine: `scripts/bench`."""
