/** The parts of the runbook that begin with an operational event: their queries find what the event reports. */

import { expect } from '@std/expect'
import { withMigrations } from '../_support/postgres.ts'
import { runbookBlock } from '../_support/ops.ts'

Deno.test("a consumer's dead letter and a held template are found by the queries of the runbook", async () => {
  await withMigrations(async (pg) => {
    async function query(sql: string): Promise<string> {
      const { code, stdout, stderr } = await pg.psql(sql)
      if (code !== 0) throw new Error(stderr)
      return stdout
    }
    expect(await query(await runbookBlock('consumer-dead-letters'))).toBe('')
    await query(`select outbox.report_dead_message('billing', 'orders', 'orders.dlq', 'm-7',
      'order.paid', 'cart-7', 'no such customer', 6)`)
    expect(await query(await runbookBlock('consumer-dead-letters')))
      .toMatch(/\|billing\|orders\.dlq\|m-7\|no such customer$/)

    expect(await query(await runbookBlock('held-templates'))).toBe('')
    await query(`
      insert into outbox.template_hold (app_id, waba_id, name, language, held, why, decided_at)
      values ('1', '3', 'hello', 'en_US', true, 'PAUSED', now()),
        ('1', '3', 'bye', 'en_US', false, 'APPROVED', now())`)
    expect(await query(await runbookBlock('held-templates')))
      .toMatch(/^1\|3\|hello\|en_US\|PAUSED\|[^\n]+$/)
  })
})
