"""The dashboard: server-rendered pages with live updates over SSE. Like the API, it uses only the client."""
