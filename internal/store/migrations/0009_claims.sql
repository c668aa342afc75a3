-- kind: expand
-- Jobs that run or wait for another attempt, which a claim counts.
CREATE INDEX job_begun ON job (run_at) WHERE attempt > 0;
