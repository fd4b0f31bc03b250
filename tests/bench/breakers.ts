/**
 * What open breakers cost the endpoints that are well: dispatch() without them, and beside 200 of them with
 * 50,000 deliveries behind each.
 *
 *   deno run -A tests/bench/breakers.ts [--breakers 200] [--each 50000] [--calls 1000]
 */

import { parseArgs } from 'node:util'
import { print } from '../../supabase/local/print.ts'
import { header, LIMIT, line, measureCalls } from './engine/calls.ts'
import { withBench } from './engine/database.ts'

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      breakers: { type: 'string', default: '200' },
      each: { type: 'string', default: '50000' },
      calls: { type: 'string', default: '1000' },
    },
  })
  const [breakers, each, calls] = [values.breakers, values.each, values.calls].map(Number)
  if (
    breakers === undefined || each === undefined || calls === undefined ||
    ![breakers, each, calls].every((count) => Number.isInteger(count) && count > 0)
  ) {
    throw new Error(
      '--breakers, --each and --calls take whole numbers, such as 200, 50000 and 1000',
    )
  }
  await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async ({ sql }) => {
    print(
      `${calls} calls of dispatch() for ${LIMIT} deliveries each, 100,000 waiting for 1,000 endpoints`,
    )
    print(header())
    await sql`call bench.load(1000, 100, 0, false)`
    const without = await measureCalls(sql, calls)
    print(line('no breaker is open', without, without))
    await sql`create temp table well as select endpoint_id from outbox.gate`
    await sql`call bench.load(${breakers}, ${each}, 0, false)`
    const opened = await sql`
      update outbox.gate g set breaker = 'open', open_until = clock_timestamp() + interval '1 hour',
        next_at = clock_timestamp() + interval '1 hour'
      where not exists (select from well w where w.endpoint_id = g.endpoint_id)`
    print(
      line(
        `beside ${opened.count} open ones, ${each} behind each`,
        await measureCalls(sql, calls),
        without,
      ),
    )
  })
}

await main()
