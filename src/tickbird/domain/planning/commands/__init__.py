"""Commands: every change of a schedule by a person or a deploy, as a value with one pure method.

A store first plans the due ticks under the old revision, then applies the command in the same transaction.
"""
