"""What can go wrong on the device, told apart by what to do about it."""

from agent.formats.errors import SfumatoError


class AgentError(SfumatoError):
    """Base of every error the agent raises on purpose."""


class ConfigError(AgentError):
    """Bad outside input: the configuration, or a file it names, cannot be used. Never retried."""


class RefusedError(AgentError):
    """Fail closed: a reading that must not be released (stale, out of range, allowance spent)."""


class UnavailableError(AgentError):
    """Unavailable now: a broker, a source or a disk that may come back. The only one retried."""
