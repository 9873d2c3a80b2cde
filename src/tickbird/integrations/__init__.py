"""Integrations with other frameworks and libraries."""
