import { expect } from '@std/expect'
import {
  type BodyPlace,
  bytesOfRequest,
  createBodyRoom,
} from '../../../../functions/_shared/http/body_room.ts'
import { readBytes } from '../../../../functions/_shared/http/read_bytes.ts'

/** Whether each body has been cut. */
async function cutOf(...places: BodyPlace[]): Promise<boolean[]> {
  const later = Promise.resolve().then(() => {}).then(() => false)
  return await Promise.all(places.map((one) => Promise.race([one.isCut.then(() => true), later])))
}

/** Limits in bytes above what the open requests count for. */
const room = (mostOfKey: number, mostOfAll: number, requests: number) =>
  createBodyRoom({
    mostOfKey: mostOfKey + requests * bytesOfRequest,
    mostOfAll: mostOfAll + requests * bytesOfRequest,
  })

Deno.test('createBodyRoom() cuts the body that has been arriving for the longest above the limit of its key', async () => {
  const bodies = room(100, 100_000, 2)
  const [slow, fast, other] = [bodies.enter('a'), bodies.enter('a'), bodies.enter('b')]
  slow.take(60)
  fast.take(40)
  other.take(100)
  expect(await cutOf(slow, fast, other)).toEqual([false, false, false])
  fast.take(1)
  expect(await cutOf(slow, fast, other)).toEqual([true, false, false])
})

Deno.test('createBodyRoom() cuts a body of the key that holds the most above the limit of all', async () => {
  const bodies = room(100, 100, 3)
  const [small, slow, fast] = [bodies.enter('a'), bodies.enter('b'), bodies.enter('b')]
  small.take(30)
  slow.take(20)
  fast.take(50)
  small.take(1)
  expect(await cutOf(small, slow, fast)).toEqual([false, true, false])
})

Deno.test('createBodyRoom() cuts no body that has arrived, but the one that arrives next', async () => {
  const bodies = room(100, 1000, 2)
  const whole = bodies.enter('a')
  whole.take(100)
  whole.keep()
  const next = bodies.enter('a')
  next.take(1)
  expect(await cutOf(whole, next)).toEqual([false, true])
})

Deno.test('createBodyRoom() counts a body until it leaves, once', async () => {
  const bodies = room(100, 100, 2)
  const first = bodies.enter('a')
  first.take(100)
  first.keep()
  first.leave()
  first.leave()
  const second = bodies.enter('a')
  second.take(100)
  expect(await cutOf(second)).toEqual([false])
  second.take(bytesOfRequest + 1)
  expect(await cutOf(second)).toEqual([true])
})

Deno.test('createBodyRoom() counts open requests without a body', async () => {
  const bodies = room(0, 0, 2)
  const places = ['a', 'a', 'a'].map((key) => bodies.enter(key))
  expect(await cutOf(...places)).toEqual([true, false, false])
})

Deno.test('readBytes() gives up a body that never ends when others need its memory', async () => {
  const bodies = room(100, 100, 2)
  const read = async (body: BodyInit) => {
    const place = bodies.enter('a')
    const request = new Request('http://localhost/', { method: 'POST', body })
    const { kind } = await readBytes(request, 1000, 60_000, place)
    place.leave()
    return kind
  }
  let isCancelled = false
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(90)),
    cancel: () => void (isCancelled = true),
  })
  const slow = read(endless)
  // Until the first piece of the slow body is counted.
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(await read('x'.repeat(50))).toBe('whole')
  expect(await slow).toBe('crowded')
  expect(isCancelled).toBe(true)
  expect(await read('x'.repeat(100))).toBe('whole')
})
