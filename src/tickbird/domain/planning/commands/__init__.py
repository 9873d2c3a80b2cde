"""Every change that a person or a deploy can make to a schedule, as values with one pure method.

A store first plans what is due under the old revision, then applies the command in the same transaction.
"""
