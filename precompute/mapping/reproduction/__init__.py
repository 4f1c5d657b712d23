"""The two-stage paper's experiments (Sun & Tay, IEEE TIFS 2020), computed again."""
