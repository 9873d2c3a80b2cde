-- min_compatible: 15
-- Following what happens: what was tried and what was done, by when.

CREATE INDEX attempts_by_age ON attempts (ended_at);
CREATE INDEX audit_by_age ON audit (at);
