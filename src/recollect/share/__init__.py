"""What a person chose to share goes to the hub of their team, and what the team shares comes in."""
