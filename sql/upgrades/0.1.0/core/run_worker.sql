-- What a worker says about itself, for list_workers().
alter table outbox.run add column worker jsonb;
comment on table outbox.run is
  'Live runs, and when each last called dispatch(). kinds: the kinds of endpoints that it can '
  'send; null if it has named none. worker: what a worker said last (worker_facts()), for '
  'list_workers().';
