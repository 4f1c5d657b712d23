"""The device side of sfumato: takes readings, publishes sanitised releases, never optimises."""
