/**
 * What the catalog says about a function and a role. PostgREST keeps its whole schema in a cache
 * until it is told to load it anew; here an answer is kept for a moment.
 */
import type postgres from 'postgres'
import { z } from 'zod'

const parameter = z.object({
  name: z.string(),
  /** As `format_type` writes it, with its schema. */
  type: z.string(),
  required: z.boolean(),
  variadic: z.boolean(),
})

const routine = z.object({
  volatile: z.boolean(),
  set: z.boolean(),
  /** Answers with objects: a row type, or OUT, INOUT or TABLE columns. */
  composite: z.boolean(),
  void: z.boolean(),
  /** Returns `json` or `jsonb`: handed on as the text it is. */
  json: z.boolean(),
  settings: z.array(z.string()),
  parameters: z.array(parameter),
})

const catalogEntry = z.object({
  routines: z.array(routine),
  roleSettings: z.array(z.string()),
  /** `pgrst.db_tx_end` of the API role: whether callers may ask for a rollback. */
  txEnd: z.string().nullable(),
})

/** One function of an exposed schema, as far as a call needs to know it. */
export type Routine = z.infer<typeof routine>

/** What the catalog says about a function name and about the caller's role. */
export type CatalogEntry = z.infer<typeof catalogEntry>

/** The name as the caller gave it. */
export interface RoutineName {
  schema: string
  name: string
}

const CATALOG_QUERY = `
select pg_catalog.json_build_object(
  'routines', coalesce((
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'volatile', p.provolatile = 'v',
      'set', p.proretset,
      'composite', coalesce(p.proargmodes && '{o,b,t}', false) or t.typtype = 'c'
        or (t.typtype = 'd' and b.typtype = 'c'),
      'void', p.prorettype = 'pg_catalog.void'::pg_catalog.regtype,
      'json', p.prorettype in (
        'pg_catalog.json'::pg_catalog.regtype, 'pg_catalog.jsonb'::pg_catalog.regtype
      ),
      'settings', coalesce(p.proconfig, '{}'),
      'parameters', coalesce((
        select pg_catalog.json_agg(pg_catalog.json_build_object(
          'name', coalesce(i.name, ''),
          'type', pg_catalog.format_type(i.type, null),
          'required', i.position <= p.pronargs - p.pronargdefaults,
          'variadic', i.mode = 'v'
        ) order by i.position)
        from (
          select a.name, a.type, coalesce(a.mode, 'i') as mode,
            pg_catalog.row_number() over (order by a.ord) as position
          from rows from (
            pg_catalog.unnest(coalesce(p.proallargtypes, p.proargtypes::pg_catalog.oid[])),
            pg_catalog.unnest(p.proargnames),
            pg_catalog.unnest(p.proargmodes)
          ) with ordinality as a (type, name, mode, ord)
          where a.type is not null and coalesce(a.mode, 'i') in ('i', 'b', 'v')
        ) as i
      ), '[]')
    ) order by p.oid)
    from pg_catalog.pg_proc as p
    join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
    join pg_catalog.pg_type as t on t.oid = p.prorettype
    left join pg_catalog.pg_type as b on b.oid = t.typbasetype
    where n.nspname = $1 and p.proname = $2 and p.prokind = 'f'
      and p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype
  ), '[]'),
  'roleSettings', coalesce((
    select pg_catalog.to_json(r.rolconfig) from pg_catalog.pg_roles as r where r.rolname = $3
  ), '[]'),
  'txEnd', (
    select pg_catalog.substr(c.setting, 18)
    from pg_catalog.pg_roles as r, pg_catalog.unnest(r.rolconfig) as c (setting)
    where r.rolname = current_user and c.setting like 'pgrst.db\\_tx\\_end=%'
  )
)::text as entry`

/** Finds what the catalog knows about a function name and a role. */
export interface Catalog {
  /** The answer to the same question of a moment ago, if there is one, else a new one. */
  known(name: RoutineName, role: string): Promise<CatalogEntry>
  /** A new answer, for a call that the known one does not fit. */
  read(name: RoutineName, role: string): Promise<CatalogEntry>
}

/**
 * For so long another setting or another kind of result may stay unseen, as on the platform. To ask
 * at every call took 4 µs of the gateway for each delivery by RPC.
 */
const KEPT_MS = 500

/** A stack has a hundred functions and three roles; the bound keeps a flood of names harmless. */
const MAX_KEPT = 1000

/** Makes a catalog over a database; `now` is a monotonic clock in ms. */
export function createCatalog(sql: postgres.Sql, now = (): number => performance.now()): Catalog {
  const kept = new Map<string, { until: number; entry: CatalogEntry }>()

  async function read(name: RoutineName, role: string): Promise<CatalogEntry> {
    const entry = await readCatalog(sql, name, role)
    if (kept.size >= MAX_KEPT) kept.clear()
    kept.set(keyOf(name, role), { until: now() + KEPT_MS, entry })
    return entry
  }

  async function known(name: RoutineName, role: string): Promise<CatalogEntry> {
    const found = kept.get(keyOf(name, role))
    return found !== undefined && now() < found.until ? found.entry : await read(name, role)
  }

  return { known, read }
}

function keyOf({ schema, name }: RoutineName, role: string): string {
  return JSON.stringify([schema, name, role])
}

/** In one round trip. */
async function readCatalog(
  sql: postgres.Sql,
  { schema, name }: RoutineName,
  role: string,
): Promise<CatalogEntry> {
  const rows = await sql.unsafe(CATALOG_QUERY, [schema, name, role], { prepare: true })
  // The last row, not the first: after an error amid rows postgres.js (3.4.9) goes on counting in
  // the connection's next result, whose only row then stands behind holes.
  return catalogEntry.parse(JSON.parse(rows.at(-1)?.entry))
}
