"""The papers' experiments, one module each, beside what this project does instead."""
