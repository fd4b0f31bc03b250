-- What one routing call reads, decides and writes: a batch of events and their pairs.

create type outbox.pair as (
  event_id uuid,
  endpoint_id uuid,
  problem text,
  deliver_at timestamptz,
  key_hash bigint,
  body_bytes integer,
  is_deleted boolean
);
comment on type outbox.pair is
  'An event and an endpoint, with the values of the event that its delivery needs. problem: null '
  'if a delivery is to be created; the empty string if the endpoint does not get the event; else '
  'why there is no delivery: the endpoint was deleted after the event was published (is_deleted), '
  'or its filter could not be evaluated.';

create type outbox.question as (
  event_id uuid,
  endpoint_id uuid,
  body_bytes bigint,
  filters jsonpath[],
  weights integer[],
  org_id text
);
comment on type outbox.question is
  'A pair whose endpoint has filters to be evaluated on the payload. weights: the weight of each.';

create type outbox.routing as (
  events uuid[],
  rows_at tid[],
  behind uuid[],
  orgs text[],
  pairs outbox.pair[],
  cut_event uuid,
  cut_endpoint uuid,
  watermark uuid,
  seen_below xid8,
  open_xids xid8[],
  questions outbox.question[],
  is_shared boolean,
  turn_of text,
  turn_orgs text[]
);
comment on type outbox.routing is
  'One batch. events: those that it finishes, in the order of turns; rows_at: the places of '
  'their rows in unrouted; behind: the last endpoint that an earlier batch processed; orgs: their '
  'organisations; pairs: the deliveries to create; cut_event, cut_endpoint: the event that it does '
  'not finish and the last endpoint processed; watermark, seen_below, open_xids: the new state of '
  'router, null to keep it; questions: the filters still to be evaluated, in the order of the '
  'pairs; is_shared: other organisations may wait for this one; turn_of: the last organisation '
  'that has had a turn; turn_orgs: the organisations that were read from waiting_part.';
