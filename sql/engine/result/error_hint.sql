-- What an operator can do about a failed attempt, by error class. tests/sql/same_rules.test.ts
-- checks that each error class has a hint.

create table outbox.error_hint (
  error_class text primary key,
  hint text not null
);
comment on table outbox.error_hint is
  'All error classes of attempts, each with one line on the remedy. Join it to outbox.attempt.';

insert into outbox.error_hint (error_class, hint) values
  ('dns', 'The host name cannot be resolved: check its spelling and its DNS records'),
  ('blocked',
    'The address or the port is not allowed: use a public host and port 443, or ask the operator '
    'to allow the network'),
  ('connect',
    'The server accepts no connection, or not in time: check that it runs and that its firewall '
    'allows the sender'),
  ('tls',
    'The TLS handshake failed: check the certificate, its chain and its name, and that the '
    'server supports TLS 1.2 or newer'),
  ('timeout',
    'There was no response in time: respond first and process later, or raise the timeout of the '
    'endpoint'),
  ('reset',
    'The connection was closed before a response: check the server and the proxy in front of it'),
  ('redirect', 'The endpoint redirects, and redirects are not followed: set the final URL'),
  ('status', 'The endpoint responded with a failure: check its log and the stored response'),
  ('too_large', 'The headers of the response are too large: send fewer'),
  ('protocol',
    'The response is not valid HTTP: check that the URL leads to an HTTP/1.1 server, and the '
    'settings of the endpoint'),
  ('lease_expired',
    'The run ended before it reported a result: the request may have been sent, and is retried');
