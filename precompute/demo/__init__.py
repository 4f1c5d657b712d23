"""The whole system on one machine, and the made-up week that it shows by default."""
