"""Compares the speed of geowalk with other systems and with the limits of the machine: `scripts/bench`."""
