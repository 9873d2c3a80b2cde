"""Ticks: decided, late, held back, released."""
