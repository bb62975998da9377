"""`python -m recollect` is `recollect`."""

from recollect.serve.cli import main

raise SystemExit(main())
