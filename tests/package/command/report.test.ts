import { expect } from '@std/expect'
import { nextSteps } from '../../../package/command/init/report.ts'

Deno.test('nextSteps() names the functions that the project has', () => {
  const text = nextSteps(new Map([['deliver', 'events-deliver'], ['api', 'events-api']]))
  expect(text).toContain("'http://kong:8000/functions/v1/events-deliver'")
  expect(text).toContain('deploys events-deliver and events-api')
  expect(text).toContain("createClient({ functionName: 'events-api', … })")
})

Deno.test('nextSteps() names no function that is not there', () => {
  const text = nextSteps(new Map([['api', 'outhook-api']]))
  expect(text).not.toContain('outhook-deliver')
  expect(text).toContain('run: outhook init --functions deliver')
  expect(nextSteps(new Map([['deliver', 'outhook-deliver']]))).not.toContain('createClient')
})
