import type { ClusterPaths } from './cluster.ts'

/** The server's settings as command line options, so that they depend on the code and not on the data folder. */
export function serverOptions(
  paths: ClusterPaths,
  { port, fsync, platform }: { port: number; fsync: boolean; platform: readonly string[] },
): string[] {
  const settings: Record<string, string | number> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: paths.socket,
    unix_socket_permissions: '0700',
    max_connections: 100,
    shared_preload_libraries: ['pg_cron', 'pg_stat_statements', ...platform].join(','),
    'cron.database_name': 'postgres',
    // pg_cron connects without a password, which is allowed only through the socket.
    'cron.host': paths.socket,
    // One log line for each run of each job would hide all others; cron.job_run_details has the runs.
    'cron.log_statement': 'off',

    // The platform's global limit; roles have shorter ones.
    statement_timeout: '2min',
    wal_level: 'logical',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] %q%u@%d ',
    // Values of failed statements may be secrets.
    log_parameter_max_length_on_error: 0,

    // For two cores and a developer's machine.
    shared_buffers: '256MB',
    maintenance_work_mem: '64MB',
    min_wal_size: '128MB',
    max_wal_size: '2GB',
    jit: 'off',
    ...extensionSettings(paths, platform),
    fsync: fsync ? 'on' : 'off',
    synchronous_commit: fsync ? 'on' : 'off',
    full_page_writes: fsync ? 'on' : 'off',
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** As on the platform, pg_net's worker connects as postgres. Vault reads its root key from a script. */
function extensionSettings(
  paths: ClusterPaths,
  platform: readonly string[],
): Record<string, string> {
  return {
    ...platform.includes('pg_net') ? { 'pg_net.username': 'postgres' } : {},
    ...platform.includes('supabase_vault') ? { 'vault.getkey_script': paths.vaultScript } : {},
  }
}
