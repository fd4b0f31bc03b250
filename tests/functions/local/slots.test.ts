import { expect } from '@std/expect'
import { createSlots } from '../../../supabase/local/gateway/slots.ts'

Deno.test('take() hands a slot on in the order of asking', async () => {
  const slots = createSlots(1)
  const release = await slots.take()
  const order: string[] = []
  const waiting = ['first', 'second'].map(async (name) => {
    const next = await slots.take()
    order.push(name)
    next?.()
  })
  release?.()
  await Promise.all(waiting)
  expect(order).toEqual(['first', 'second'])
  expect(await slots.take()).not.toBe(null)
})

Deno.test('take() gives up after the wait, and the slot is not lost', async () => {
  const slots = createSlots(1, 10)
  const release = await slots.take()
  expect(await slots.take()).toBe(null)
  release?.()
  expect(await slots.take()).not.toBe(null)
})
