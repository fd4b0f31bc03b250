import { expect } from '@std/expect'

/** Opens a link as the page does, and returns the cookie. */
export async function open(link: string): Promise<string> {
  const { origin, hash } = new URL(link)
  const response = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { origin },
    body: hash.replace('#token=', ''),
  })
  await response.body?.cancel()
  expect(response.status).toBe(200)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** The status of a response, whose body is not read. */
export async function statusOf(url: string, init?: RequestInit): Promise<number> {
  const response = await fetch(url, init)
  await response.body?.cancel()
  return response.status
}
