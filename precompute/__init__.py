"""The workstation side of sfumato: learns priors, designs noise with a bound, attacks releases."""
