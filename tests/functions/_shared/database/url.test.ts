import { expect } from '@std/expect'
import postgres from 'postgres'
import { connectionUrlProblem } from '../../../../functions/_shared/database/url.ts'

const valid: [url: string, password: string | null][] = [
  ['postgresql://h/d', null],
  ['postgres://u@h:6543/d?sslmode=require', null],
  ['postgresql://postgres.ref:p%23%2F%20%25%40%3Fw@pooler.example.com:5432/postgres', 'p#/ %@?w'],
  ["postgresql://u:a,b:c!$&'()*+;=@h/d", "a,b:c!$&'()*+;="],
  ['postgresql://u:pw@[::1]:5432/d', 'pw'],
  ['postgresql://u:pw@h1:5432,h2:5433/d', 'pw'],
]

for (const [url, password] of valid) {
  Deno.test(`connectionUrlProblem() takes ${url}, and so does the driver`, async () => {
    expect(connectionUrlProblem(url)).toBe(null)
    // It connects at the first query, and there is none.
    const sql = postgres(url)
    if (password !== null) expect(sql.options.pass).toBe(password)
    await sql.end()
  })
}

const passwords = ['12#34', 'a#b', '12/34', 'a/b', '12?34', 'a?b', 'a b', 'a@b', 'a,b@c', '50%']

Deno.test('connectionUrlProblem() refuses a password that is not encoded and does not repeat it', () => {
  for (const password of passwords) {
    const problem = connectionUrlProblem(`postgresql://u:${password}@h/d`)
    expect([password, problem]).toEqual([password, expect.stringContaining('is not a URL')])
    expect(problem).not.toContain(password)
  }
})

Deno.test('connectionUrlProblem() refuses what is no connection string', () => {
  for (const text of ['', 'h', 'mysql://u:p@h/d', 'http://h/d']) {
    expect(connectionUrlProblem(text)).toBe('must start with postgresql://')
  }
  for (const text of ['postgresql://u:p@h:port/d', 'postgresql://u:p@[h', 'postgresql://u:p@/d']) {
    expect([text, connectionUrlProblem(text)]).toEqual([text, expect.stringContaining('is not')])
  }
})
