-- How many templates are held, for the metrics. A hold counts as long as an organisation has the
-- template and a channel of the account, since only then messages can wait for it.

create index template_hold_held on outbox.template_hold (app_id, waba_id, name, language)
where held;

create function outbox.held_templates() returns bigint
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set jit = off
as $$
begin
  return (
    select pg_catalog.count(*)
    from (
      select distinct t.org_id, t.code
      from (select h.* from outbox.template_hold h where h.held limit 10000) h
      join outbox.whatsapp_channel c on c.app_id = h.app_id and c.waba_id = h.waba_id
      join outbox.template t on t.org_id = c.org_id and t.name = h.name
        and t.language = h.language
    ) t);
end
$$;
comment on function outbox.held_templates() is
  'The number of templates of all organisations that WhatsApp has paused, disabled or rejected, so '
  'that their messages wait. Reads at most 10,000 holds.';

create or replace function outbox.more_gauges()
returns table (metric text, labels text[], value double precision)
language plpgsql stable set search_path = ''
as $$
begin
  return query
  select 'templates_held', array[]::text[], outbox.held_templates()::double precision;
end
$$;
