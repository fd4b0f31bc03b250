-- net, the tables: pg_net's queue and responses. UNLOGGED as on the platform, so a crash of Postgres empties
-- both. Every role may use them with its own rights, as on the platform.
create schema net;

create domain net.http_method as text
  constraint http_method_known check (pg_catalog.lower(value) in ('get', 'post', 'delete'));

create unlogged table net.http_request_queue (
  id bigserial primary key,
  method net.http_method not null,
  url text not null,
  headers jsonb,
  body bytea,
  timeout_milliseconds integer not null
);

create unlogged table net._http_response (
  id bigint,
  status_code integer,
  content_type text,
  headers jsonb,
  content text,
  timed_out boolean,
  error_msg text,
  created timestamptz not null default pg_catalog.now()
);
create index _http_response_created_idx on net._http_response (created);

grant usage on schema net to public;
grant all on all tables in schema net to public;
grant all on all sequences in schema net to public;
