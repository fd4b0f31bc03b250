-- Why an attempt failed, in one word, and what an operator can do about it.
-- functions/_shared/error_hints.ts has the same sentences (tests/sql/same_rules.test.ts holds them
-- against each other).

create table outbox.error_hint (
  error_class text primary key,
  hint text not null
);
comment on table outbox.error_hint is
  'Every error_class that an attempt can have, with one line on what to do: join it to '
  'outbox.attempt.';

insert into outbox.error_hint (error_class, hint) values
  ('dns', 'The host name cannot be resolved: check its spelling and its DNS records'),
  ('blocked',
    'The address or the port is not allowed: use a public host and port 443, or let the operator '
    'allow the network'),
  ('connect',
    'Nothing accepts connections there: check that the server runs and that its firewall lets '
    'the sender in'),
  ('tls',
    'The TLS handshake failed: check the certificate, its chain and its name, and that the '
    'server speaks TLS 1.2 or newer'),
  ('timeout',
    'No answer came in time: answer first and work later, or raise the endpoint''s timeout'),
  ('reset',
    'The connection was closed before an answer came: check the server and the proxy in front of '
    'it'),
  ('redirect', 'The endpoint redirects, which is never followed: set the final URL'),
  ('status', 'The endpoint answered with a failure: its own log and the stored response say why'),
  ('too_large', 'The headers of the answer are too large: send fewer'),
  ('protocol',
    'No valid HTTP exchange was possible: check that the URL leads to an HTTP/1.1 server, and '
    'the endpoint''s settings'),
  ('lease_expired',
    'The run ended before it could report: the delivery was or was not sent, and is tried again');
