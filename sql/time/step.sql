-- The steps of modules in the tick, and the steps of the cleanup. A module inserts its steps in its
-- own folder. Each row names a function, which is called as the owner of the schema. So only the
-- owner may write to these tables.

create table outbox.tick_step (
  name text primary key,
  calls text not null
    constraint tick_step_calls_a_function check (
      calls ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
    ),
  most integer not null constraint tick_step_has_a_limit check (most > 0)
);
comment on table outbox.tick_step is
  'Steps of modules in the tick, once a second, in the order of their names. calls: the '
  'schema-qualified name of a function (now timestamptz, most integer). It processes up to most '
  'rows and waits for no lock. An error becomes a warning and does not affect the other steps.';

create table outbox.cleanup_step (
  name text primary key,
  calls text not null
    constraint cleanup_step_calls_a_function check (
      calls ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
    ),
  most integer constraint cleanup_step_has_a_limit check (most > 0),
  is_last boolean not null default false
);
comment on table outbox.cleanup_step is
  'Steps of cleanup(), those of is_last after all others, and else in the order of their names, '
  'which are also members of its '
  'result. calls: the schema-qualified name of a function (now timestamptz, most integer) returns '
  'integer: how many rows it deleted. most: the limit of one call, if that is less than the limit '
  'of cleanup().';
