"""Parsers that keep the location of every value: JSON, TOML and YAML."""
