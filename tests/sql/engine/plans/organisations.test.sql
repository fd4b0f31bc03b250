-- Routing, claiming and the count of the backlog with 1,000 organisations: with the statistics of a drained queue, and
-- with fresh ones.
begin;
\ir ../../_helpers.sql
\ir _organisations.sql
select plan(25);

select fill(1), drain();
analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.subscription, outbox.unrouted, outbox.waiting_part, outbox.attempt;
select fill(1);
select is((select count(*) from outbox.delivery), 1000::bigint, 'a thousand deliveries of one organisation wait');
select calls('stale');
analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.subscription, outbox.unrouted, outbox.waiting_part, outbox.attempt;
select calls('fresh');
select is(came, should, what || ': does what it was asked for') from came order by n;
select is_empty(format('select seq_scans(%L)', what), what || ': scans nothing') from came order by n;
select cmp_ok(rows_touched(what), '<=', most, format('%s: touches at most %s rows', what, most)) from came order by n;

select * from finish();
rollback;
