"""Cron expressions: parser, days, next ticks and a description in English."""
