"""All else that a store keeps and tells."""
