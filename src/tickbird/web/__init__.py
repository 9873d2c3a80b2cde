"""The dashboard: pages made on the server, live by server-sent events; through the client alone, as the API is."""
