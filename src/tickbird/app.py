"""The composition root: the only place that names concrete drivers and targets."""
