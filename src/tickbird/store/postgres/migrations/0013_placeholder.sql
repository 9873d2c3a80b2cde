-- min_compatible: 1
-- Holds the number of a migration of another branch.
SELECT 1;
