import { expect } from '@std/expect'
import { freePort, isPortFree } from '../../../supabase/local/process/ports.ts'

Deno.test('freePort() gives each port once, and none that a connection may take meanwhile', async () => {
  const ports = Array.from({ length: 2000 }, freePort)
  expect(new Set(ports).size).toBe(ports.length)
  const range = await Deno.readTextFile('/proc/sys/net/ipv4/ip_local_port_range').catch(() =>
    '49152'
  )
  const lowestOfConnections = Number(range.trim().split(/\s+/)[0])
  expect(Math.max(...ports)).toBeLessThan(lowestOfConnections)
  expect(Math.min(...ports)).toBeGreaterThan(1024)
  expect(ports.slice(0, 20).map(isPortFree)).toEqual(Array(20).fill(true))
})

Deno.test('isPortFree() says no while something listens on all addresses, and yes after that', () => {
  const port = freePort()
  const listener = Deno.listen({ hostname: '0.0.0.0', port })
  expect(isPortFree(port)).toBe(false)
  listener.close()
  expect(isPortFree(port)).toBe(true)
})
