-- What modules do in the tick and in the cleanup. A module inserts its steps in its own folder. A
-- row names a function that is called as the owner of the schema, so only the owner may write here.

create table outbox.tick_step (
  name text primary key,
  calls text not null
    constraint tick_step_calls_a_function check (
      calls ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
    ),
  most integer not null constraint tick_step_has_a_limit check (most > 0)
);
comment on table outbox.tick_step is
  'Steps that the tick takes for modules, once a second, in the order of their names. calls: a '
  'function, with its schema, of (now timestamptz, most integer); it does at most so much, and '
  'waits for no lock. An error is a warning, and costs the other steps nothing.';

create table outbox.cleanup_step (
  name text primary key,
  calls text not null
    constraint cleanup_step_calls_a_function check (
      calls ~ '^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$'
    ),
  most integer constraint cleanup_step_has_a_limit check (most > 0)
);
comment on table outbox.cleanup_step is
  'What cleanup() removes for modules, in the order of the names, which are also the names in its '
  'result. calls: a function, with its schema, of (now timestamptz, most integer) returns integer: '
  'how many rows it removed. most: the limit of one call, if that is less than the limit of '
  'cleanup().';
