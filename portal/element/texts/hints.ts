/** The key of the text that says what an error class means. */
export const hintKeys = {
  dns: 'hint_dns',
  blocked: 'hint_blocked',
  connect: 'hint_connect',
  tls: 'hint_tls',
  timeout: 'hint_timeout',
  reset: 'hint_reset',
  redirect: 'hint_redirect',
  status: 'hint_status',
  too_large: 'hint_too_large',
  protocol: 'hint_protocol',
  lease_expired: 'hint_lease_expired',
} as const
