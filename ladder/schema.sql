CREATE TABLE t_store (schema INTEGER);
CREATE TABLE t_runs (
    run TEXT, name TEXT, game TEXT, spec TEXT, key_id TEXT,
    started_at TIMESTAMPTZ, finished_at TIMESTAMPTZ, digest TEXT
);
CREATE TABLE t_entrants (run TEXT, position INTEGER, name TEXT, version TEXT);
CREATE TABLE t_bots (
    version TEXT, game TEXT, name TEXT, reference TEXT, class_name TEXT, params TEXT,
    source_hash TEXT, author TEXT, submitted_at TIMESTAMPTZ
);
-- What bots are made of; a bot's own file and the local modules it imports.
CREATE TABLE t_terminations (game TEXT, termination TINYINT, name TEXT);
CREATE TABLE t_pairings (
    pairing_id BIGINT, pairing BLOB, key_id TEXT, game TEXT, game_version INTEGER, table_json TEXT,
    on_fault TEXT, deal_key BLOB, versions TEXT[]
);
-- What a run wants: the repetitions 0 .. repetitions - 1; lineup gives entrant positions by seat.
CREATE TABLE t_run_pairings (
    run TEXT, pairing_id BIGINT, repetitions BIGINT, lineup INTEGER[]
);
-- What there is: repetitions first .. first + count - 1 of a pairing.
CREATE TABLE t_ledger (
    pairing_id BIGINT, first BIGINT, count BIGINT, is_kept BOOLEAN, digest BIGINT, chances BIGINT, decisions BIGINT,
    faults BIGINT[], products BIGINT[], patterns BIGINT[], pattern_counts BIGINT[],
    pattern_scores BIGINT[]
);
CREATE TABLE t_matches (
    pairing_id BIGINT, repetition BIGINT, chances INTEGER, decisions INTEGER,
    termination TINYINT, digest BIGINT
);
CREATE TABLE t_seats (
    pairing_id BIGINT, repetition BIGINT, seat TINYINT, score BIGINT, place TINYINT,
    faults SMALLINT
);
CREATE TABLE t_faults (
    pairing_id BIGINT, repetition BIGINT, seat TINYINT, decision INTEGER, cause TEXT, detail TEXT,
    traceback TEXT
);
CREATE TABLE t_ratings (
    run TEXT, bot TEXT, version TEXT, mu DOUBLE, sigma DOUBLE, matches BIGINT, win_share DOUBLE,
    rank_by TEXT, rated_at TIMESTAMPTZ
);
CREATE TABLE t_rating_history AS FROM t_ratings;

CREATE VIEW runs AS
    SELECT run, name, game, spec, key_id, started_at, finished_at, digest FROM t_runs;
CREATE VIEW bots AS
    SELECT name, version, game, reference, class_name, params, source_hash, author, submitted_at
    FROM t_bots;
CREATE VIEW matches AS
    SELECT r.run, printf('%016x:%d', m.pairing_id, m.repetition) AS match, p.game,
           lower(hex(p.deal_key)) || ':' || m.repetition AS seed,
           len(p.versions) AS seats, m.chances AS throws_or_rolls, m.decisions,
           t.name AS termination, printf('%016x', m.digest) AS digest
    FROM t_run_pairings r
    JOIN t_pairings p USING (pairing_id)
    JOIN t_matches m ON m.pairing_id = r.pairing_id AND m.repetition < r.repetitions
    JOIN t_terminations t ON t.game = p.game AND t.termination = m.termination;
CREATE VIEW results AS
    WITH winners AS (
        SELECT pairing_id, repetition, count(*) FILTER (place = 1) AS first
        FROM t_seats GROUP BY pairing_id, repetition)
    SELECT r.run, printf('%016x:%d', s.pairing_id, s.repetition) AS match, s.seat,
           e.name AS bot, e.version, s.score, s.place,
           CASE WHEN s.place = 1 THEN 1.0 / w.first ELSE 0.0 END::DOUBLE AS win_share, s.faults
    FROM t_run_pairings r
    JOIN t_seats s ON s.pairing_id = r.pairing_id AND s.repetition < r.repetitions
    JOIN winners w ON w.pairing_id = s.pairing_id AND w.repetition = s.repetition
    JOIN t_entrants e ON e.run = r.run AND e.position = r.lineup[s.seat + 1];
CREATE VIEW faults AS
    SELECT r.run, printf('%016x:%d', f.pairing_id, f.repetition) AS match, f.seat, e.name AS bot,
           e.version, f.decision, f.cause, f.detail, f.traceback, f.pairing_id, f.repetition
    FROM t_run_pairings r
    JOIN t_faults f ON f.pairing_id = r.pairing_id AND f.repetition < r.repetitions
    JOIN t_entrants e ON e.run = r.run AND e.position = r.lineup[f.seat + 1];
CREATE VIEW ratings AS FROM t_ratings;
CREATE VIEW rating_history AS FROM t_rating_history;
