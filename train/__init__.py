"""How the static model in src/recollect/embed was made; README.md says in which order."""
