/** What the messages of the noisy organisation need: an app, a number at the limits, and a template. */

import type { Sql } from 'postgres'
import type { Noise } from './noise_process.ts'
import { MOST_MESSAGES, TOKEN } from './options.ts'

/** Meta's ids of the app and of the account. */
const APP = '1'
const ACCOUNT = '9'

/** Registers the app, and creates the channel of this process as the default one of the organisation. */
export async function addMessaging(sql: Sql, { number, url }: Noise['whatsapp']): Promise<void> {
  await sql`
    select outbox.set_setting('whatsapp.graph_url', to_jsonb(${url}::text)),
      outbox.put_whatsapp_app(${APP}, ${'a'.repeat(32)}),
      outbox.put_template('noisy', 'noise', 'noise', 'fr', 'UTILITY')`
  await sql`
    select outbox.create_channel('noisy', ${number}, ${ACCOUNT}, ${APP}, ${TOKEN},
      p_messages_per_second => ${MOST_MESSAGES}, p_pair_seconds => 0)`
}
