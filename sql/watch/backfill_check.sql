-- Whether a backfill may read a table. It reads with the rights of the schema's owner, so nothing
-- of the table may be code of another role.

create function outbox.check_source(p_table regclass) returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_owner pg_catalog.pg_roles;
  v_class pg_catalog.pg_class;
  v_other oid;
begin
  perform outbox.check_watched(p_table);
  select r.* into v_owner
  from pg_catalog.pg_namespace n
  join pg_catalog.pg_roles r on r.oid = n.nspowner
  where n.nspname = 'outbox';
  select c.* into v_class from pg_catalog.pg_class c where c.oid = p_table;
  -- To plan a query, Postgres may call functions of the indexes and the partition keys.
  select c.relowner into v_other
  from pg_catalog.pg_class c
  join pg_catalog.pg_roles r on r.oid = c.relowner
  where (c.oid = p_table
      or c.oid in (select t.relid from pg_catalog.pg_partition_tree(p_table) t))
    and c.relowner <> v_owner.oid and not r.rolsuper
  limit 1;
  if v_class.relispartition then
    perform outbox.invalid('table', pg_catalog.format('%s is a partition', p_table),
      pg_catalog.format('Name the partitioned table %s', pg_catalog.pg_partition_root(p_table)));
  elsif v_other is not null then
    perform outbox.invalid('table',
      pg_catalog.format('%s is owned by %s', p_table, v_other::regrole),
      pg_catalog.format('A query of it may run code of its owner with the rights of %1$I: alter '
        'table %2$s owner to %1$I', v_owner.rolname, p_table));
  elsif not (pg_catalog.has_table_privilege(v_owner.oid, p_table, 'select')
    and pg_catalog.has_table_privilege(v_owner.oid, p_table, 'update'))
  then
    perform outbox.invalid('table',
      pg_catalog.format('%s cannot be read and locked by %s', p_table, v_owner.rolname),
      pg_catalog.format('grant select, update on %s to %I', p_table, v_owner.rolname));
  elsif v_class.relrowsecurity and not (v_owner.rolsuper or v_owner.rolbypassrls)
    and (v_class.relforcerowsecurity or v_class.relowner <> v_owner.oid)
  then
    perform outbox.invalid('table',
      pg_catalog.format('%s has policies that apply to %s', p_table, v_owner.rolname),
      case
        when v_class.relowner = v_owner.oid
        then pg_catalog.format('alter table %s no force row level security', p_table)
        else pg_catalog.format('alter table %s owner to %I', p_table, v_owner.rolname)
      end);
  end if;
end
$$;
comment on function outbox.check_source(regclass) is
  'Raises OH001 unless the owner of the schema may read and lock all rows of this table, and no '
  'other role than a superuser owns it or one of its partitions.';
