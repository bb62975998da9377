"""How the suite is run: its tiers, and which skips are expected."""
