-- How many batches have passed over the organisations that wait for a turn.
alter table outbox.router add column passed integer not null default 0;
comment on table outbox.router is
  'One row, the state of routing. The call that holds its lock routes. A row of unrouted has not '
  'been read if its id > watermark, its xid is in open_xids, or its xid >= seen_below. last_org: '
  'the last organisation that had a turn. shared_at: when a batch last had events of an '
  'organisation while another one was in waiting_part. passed: how many batches in a row passed '
  'over waiting_part. turn: the number of updates, which is the key because it changes: with a '
  'constant key each lookup would scan all dead versions while a transaction stays open. '
  'lock_router() inserts the row again if it was deleted.';
alter type outbox.routing add attribute is_new_only boolean;
comment on type outbox.routing is
  'One batch. events: those that it finishes, in the order of turns; rows_at: the places of '
  'their rows in unrouted; behind: the last endpoint that an earlier batch processed; orgs: '
  'their organisations; pairs: the deliveries to create; cut_event, cut_endpoint: the event that '
  'it does not finish and the last endpoint processed; watermark, seen_below, open_xids: the new '
  'state of router, null to keep it; questions: the filters still to be evaluated, in the order '
  'of the pairs; is_shared: other organisations may wait for this one; turn_of: the last '
  'organisation that has had a turn; turn_orgs: the organisations that were read from '
  'waiting_part; is_new_only: it passes over waiting_part (may_pass()).';
