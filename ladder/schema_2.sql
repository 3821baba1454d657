-- From schema 1 to 2: submissions with their sources, and the nights of ladders.
CREATE TABLE t_submissions (
    number BIGINT, game TEXT, name TEXT, version TEXT, author TEXT, reference TEXT, module TEXT,
    class_name TEXT, params TEXT, source_hash TEXT, about TEXT, submitted_at TIMESTAMPTZ,
    withdrawn_at TIMESTAMPTZ, quarantine TEXT
);
CREATE TABLE t_sources (source_hash TEXT, position INTEGER, path TEXT, content BLOB);
-- A night is begun, then rated (finished_at), then put away (closed_at).
CREATE TABLE t_nights (
    ladder TEXT, night INTEGER, label TEXT, game TEXT, run TEXT, spec TEXT,
    started_at TIMESTAMPTZ, finished_at TIMESTAMPTZ, closed_at TIMESTAMPTZ,
    seconds DOUBLE, rounds INTEGER, matches BIGINT, digest TEXT, notes TEXT
);
-- Who plays a night, as it stood when the night began and, once rated, when it ended.
CREATE TABLE t_night_entrants (
    ladder TEXT, night INTEGER, position INTEGER, name TEXT, version TEXT, author TEXT,
    nights INTEGER, mu_before DOUBLE, sigma_before DOUBLE, matches_before BIGINT,
    mu DOUBLE, sigma DOUBLE, rank INTEGER, matches BIGINT, win_share DOUBLE, faults BIGINT,
    quarantine TEXT
);
CREATE OR REPLACE VIEW bots AS
    SELECT name, version, game, reference, class_name, params, source_hash, author, submitted_at
    FROM t_submissions
    UNION ALL
    SELECT name, version, game, reference, class_name, params, source_hash, author, submitted_at
    FROM t_bots WHERE version NOT IN (SELECT version FROM t_submissions);
CREATE VIEW nights AS
    SELECT ladder, night, label, game, run, started_at, finished_at, seconds, rounds, matches,
           digest FROM t_nights;
CREATE VIEW night_ratings AS
    SELECT n.ladder, n.night, n.label, e.rank, e.name AS bot, e.version, e.author, e.mu, e.sigma,
           e.matches, e.matches_before, e.win_share, e.faults, e.quarantine
    FROM t_night_entrants e JOIN t_nights n USING (ladder, night)
    WHERE n.finished_at IS NOT NULL;
