/** What the commands of a deployment need. */
export interface Targets {
  /** The major version of the Supabase CLI. */
  major: number
  /** Null: a database without the platform. */
  projectRef: string | null
  /** Null: the database of the project. */
  dbUrl: string | null
}

/** The arguments that name the database. */
function database({ major, projectRef, dbUrl }: Targets): string[] {
  if (major >= 3) return [`--remote=${dbUrl ?? projectRef}`, '--yes']
  if (dbUrl !== null) return ['--db-url', dbUrl]
  return ['--linked', '--project-ref', projectRef ?? '']
}

/** The arguments that name the project on the platform. */
function platform({ major, projectRef }: Targets): string[] {
  return major >= 3 ? [`--remote=${projectRef}`, '--yes'] : ['--project-ref', projectRef ?? '']
}

/** Applies the migrations that are missing. */
export function pushCommand(targets: Targets): string[] {
  return ['db', 'push', ...database(targets), ...targets.major >= 3 ? [] : ['--yes']]
}

/** Executes the SQL in a file. */
export function queryCommand(targets: Targets, file: string): string[] {
  return ['db', 'query', '--file', file, ...database(targets)]
}

/** Lists the names of the secrets of the functions. */
export function listSecretsCommand(targets: Targets): string[] {
  return ['secrets', 'list', '--output', 'json', ...platform(targets)]
}

/** Sets the secrets of a file, because every user of the machine can read arguments. */
export function setSecretsCommand(targets: Targets, file: string): string[] {
  return ['secrets', 'set', '--env-file', file, ...platform(targets)]
}

/** Deploys these functions alone, without Docker: without names the CLI deploys all. */
export function functionsCommand(targets: Targets, folders: readonly string[]): string[] {
  return ['functions', 'deploy', ...folders, '--use-api', ...platform(targets)]
}

/** Lists the keys of the project in full. */
export function keysCommand(targets: Targets): string[] {
  return ['projects', 'api-keys', '--reveal', '--output', 'json', ...platform(targets)]
}

/** A command as a person would type it, without the password of a database. */
export function shownCommand(args: readonly string[]): string {
  const safe = args.map((arg) =>
    arg.replace(/:\/\/.*@/, '://…@').replaceAll(/\b(password=)[^&]*/gi, '$1…')
  )
  return ['supabase', ...safe].map((arg) => /^[\w@%+=:,./…-]+$/.test(arg) ? arg : `'${arg}'`).join(
    ' ',
  )
}
