-- From schema 2 to 3: how the bots of a run were kept, and the key that its dice come from.
CREATE TABLE t_walls (run TEXT, tier TEXT, kernel TEXT, walls TEXT);
-- `asked` names a spec without its key: an unfinished run of it goes on with the key it has.
CREATE TABLE t_keys (run TEXT, asked TEXT, key BLOB, is_secret BOOLEAN);
CREATE OR REPLACE VIEW runs AS
    SELECT run, name, game, spec, key_id, started_at, finished_at, digest, tier, kernel, walls,
           CASE WHEN finished_at IS NOT NULL THEN lower(hex(key)) END AS key
    FROM t_runs LEFT JOIN t_walls USING (run) LEFT JOIN t_keys USING (run);
-- The seeds of a secret run are known when it has finished.
CREATE OR REPLACE VIEW matches AS
    SELECT r.run, printf('%016x:%d', m.pairing_id, m.repetition) AS match, p.game,
           CASE WHEN k.run IS NULL THEN lower(hex(p.deal_key)) || ':' || m.repetition END AS seed,
           len(p.versions) AS seats, m.chances AS throws_or_rolls, m.decisions,
           t.name AS termination, printf('%016x', m.digest) AS digest
    FROM t_run_pairings r
    JOIN t_pairings p USING (pairing_id)
    JOIN t_matches m ON m.pairing_id = r.pairing_id AND m.repetition < r.repetitions
    JOIN t_terminations t ON t.game = p.game AND t.termination = m.termination
    LEFT JOIN (SELECT run FROM t_keys JOIN t_runs USING (run)
               WHERE is_secret AND finished_at IS NULL) k ON k.run = r.run;
