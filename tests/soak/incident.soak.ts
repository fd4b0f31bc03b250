/** The incident at full length: which alerts fire, and that the backlog drains. */

import { expect } from '@std/expect'
import { print } from '../../supabase/local/print.ts'
import { playIncident } from '../e2e/incident/incident.ts'
import { drawDashboard } from '../e2e/incident/picture.ts'

const isShort = Deno.env.get('OUTHOOK_SOAK') === 'short'
/** Where to draw what the dashboard shows; not set: nowhere. */
const picture = Deno.env.get('OUTHOOK_PICTURE')

Deno.test('an incident raises the alerts that it should, and its backlog drains', async () => {
  const timing = {
    ...isShort ? { calm: 10, faults: 100, scrape: 1 } : { calm: 120, faults: 1000, scrape: 5 },
    awaits: ['OuthookWhatsAppHeld'],
    pace: 3,
    drain: true,
  }
  const incident = await playIncident(timing, print)
  try {
    for (const [file, text] of Object.entries(incident.console)) print(`${file}\n${text}`)
    if (picture !== undefined) await Deno.writeTextFile(picture, await drawDashboard(incident))
    const fired = incident.fired.map(({ name }) => name)
    const expected = ['OuthookWhatsAppHeld']
    if (!isShort) expected.push('OuthookDeadLetters', 'OuthookBreakerOpen')
    expect(fired).toEqual(expect.arrayContaining(expected))
    expect(fired).not.toContain('OuthookNoTick')
    expect(incident.drainedIn).toBeLessThan(300)
  } finally {
    await incident.stop()
  }
})
