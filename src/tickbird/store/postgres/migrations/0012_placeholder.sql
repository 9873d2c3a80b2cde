-- min_compatible: 1
-- Nothing: this number is reserved.
SELECT 1;
