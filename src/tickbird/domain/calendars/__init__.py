"""Calendars: closed days and their definitions."""
