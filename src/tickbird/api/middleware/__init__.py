"""ASGI middleware: limits, timeouts, idempotency and slow clients."""
