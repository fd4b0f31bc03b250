import { expect } from '@std/expect'
import { z } from 'zod'
import { readIssues } from '../../../functions/api/middleware/problem.ts'

const policy = z.strictObject({ baseDelay: z.number(), maxRetries: z.number().optional() })

function refusal(body: unknown): { message: string; field: string | undefined } {
  const { message, field } = readIssues(policy.safeParse(body).error?.issues ?? [], 'json')
  return { message, field }
}

Deno.test('readIssues() says that a member is missing when it is', () => {
  expect(refusal({})).toEqual({ message: 'baseDelay is missing', field: 'baseDelay' })
})

Deno.test('readIssues() names a misspelt member before the missing one', () => {
  expect(refusal({ base_delay: 1 })).toEqual({
    message: 'base_delay is unknown',
    field: 'base_delay',
  })
})

Deno.test('readIssues() keeps what zod says of a value of the wrong type', () => {
  expect(refusal({ baseDelay: 'soon' })).toEqual({
    message: 'baseDelay: Invalid input: expected number, received string',
    field: 'baseDelay',
  })
})
