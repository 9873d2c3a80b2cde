"""The oracle: what must become of every tick, decided tick by tick from the rules of the design.

It shares no code with the planner. The simulation, the random histories of the stores and the model test of the planner
compare the product with it. Instants are seconds since the epoch.
"""
