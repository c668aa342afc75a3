-- kind: expand
-- What nodes share about the calls to an account of an ad platform: from when
-- on its time is free, until when the platform wants no calls, and until when
-- clients hold calls back by themselves.
CREATE TABLE call_budget (
  account    KEY NOT NULL PRIMARY KEY,
  free_at    BIGINT NOT NULL,
  not_before BIGINT NOT NULL,
  held_until BIGINT NOT NULL
);
