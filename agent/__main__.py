"""``python -m agent`` is the ``sfumato`` command."""

from agent.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
