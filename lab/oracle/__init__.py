"""The oracle: the expected decision about every tick, computed tick by tick from the rules of the design.

It shares no code with the planner. The simulation, the random histories of the stores and the model test of the planner
compare the product with it. Instants are seconds since the epoch.
"""
