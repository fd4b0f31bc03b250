import type { Sql } from 'postgres'

/** Publishes `count` events of a type in one transaction; returns their ids in that order. */
export async function publishMany(sql: Sql, type: string, count: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select value as id from jsonb_array_elements_text(outbox.publish_many(
      (select jsonb_agg(jsonb_build_object('type', ${type}::text, 'payload', jsonb_build_object('n', n)) order by n)
       from generate_series(1, ${count}::integer) n)))`
  return rows.map((row) => row.id)
}

/** Publishes one event; returns its id. */
export async function publishOne(
  sql: Sql,
  type = 'thing.done',
  key: string | null = null,
): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select outbox.publish(${type}, '{}', p_partition_key => ${key}) as id`
  if (row === undefined) throw new Error('publish() returned no row')
  return row.id
}
