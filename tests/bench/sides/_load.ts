/**
 * The peers are no dependencies of this project, so their types are not here: each side writes down
 * what it uses of them.
 */

/** The module of a package that setup/peers.ts has installed. */
export async function load<Module>(name: string): Promise<Module> {
  // SAFETY: the versions are pinned, and a side that is wrong about them fails at its first call.
  return await import(name) as Module
}

export interface PgClient {
  connect(): Promise<void>
  query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>
  query<Row>(query: { name: string; text: string; values: unknown[] }): Promise<{ rows: Row[] }>
  end(): Promise<void>
}

/** What is used of pg. */
export interface PgModule {
  default: { Client: new (options: { connectionString: string }) => PgClient }
}
