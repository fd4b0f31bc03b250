import { expect } from '@std/expect'
import { docsBlock } from '../../project/_docs.ts'
import type { Bus } from './bus.ts'

/** The statement of the page that publishes the events of one organisation, for the broker of the test. */
export async function endpointOf(bus: Pick<Bus, 'env'>, org: string): Promise<string> {
  const url = new URL(bus.env.OUTHOOK_RABBITMQ_URL ?? '')
  const login = {
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  }
  const broker = {
    url: `amqps://${url.host}${url.pathname}`,
    ca: await Deno.readTextFile(bus.env.OUTHOOK_RABBITMQ_CA ?? ''),
    exchange: '',
    routing_key: 'outhook',
  }
  const quoted = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", "''")}'`
  const page = docsBlock('into-endpoint')
  const own = page.replace(/'\{"url": [^']*'/, () => quoted(broker))
    .replace(/'\{"username": [^']*'/, () => quoted(login)).replace('org-7', org)
  expect(own).not.toContain('example.com')
  return own
}
