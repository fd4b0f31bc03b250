do $$
begin
  if exists (select from outbox.unrouted) or exists (select from outbox.delivery) then
    raise exception 'there are deliveries that are not finished'
      using hint = 'Wait until they are, or write this migration again with: '
        'outhook uninstall --discard';
  end if;
end
$$;

do $$
declare
  v_callers text;
begin
  select pg_catalog.string_agg(p.oid::regprocedure::text, ', ') into v_callers
  from pg_catalog.pg_proc p
  where p.prosrc ~ '\moutbox\.' and p.pronamespace <> 'outbox'::regnamespace;
  if v_callers is not null then
    raise exception 'these functions may call the schema outbox: %', v_callers
      using hint = 'Drop or change them in an earlier migration, or write this one again '
        'with: outhook uninstall --discard';
  end if;
end
$$;

do $$
declare
  v_dependents text;
begin
  -- A view, a column or a function with a parsed body. Triggers of watch_table() go with the schema.
  select pg_catalog.string_agg(distinct pg_catalog.concat_ws(' ', o.type, o.identity), ', ')
  into v_dependents
  from pg_catalog.pg_depend d
  cross join lateral pg_catalog.pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) r
  cross join lateral pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) o
  where r.schema = 'outbox' and d.deptype = 'n' and o.type <> 'trigger'
    and o.schema is distinct from 'outbox'
    and (o.schema is not null or o.identity !~ '(^| on |^for )outbox\.');
  if v_dependents is not null then
    raise exception 'these objects would be dropped with the schema outbox: %', v_dependents
      using hint = 'Drop or change them in an earlier migration, or write this one again '
        'with: outhook uninstall --discard';
  end if;
end
$$;
