"""Two-stage mappings: what sensor nodes may tell, so that H is learnt and neither G nor X is."""
