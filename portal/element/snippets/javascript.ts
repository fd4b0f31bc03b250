export const javascript = `import { createHmac, timingSafeEqual } from 'node:crypto'

// secret: whsec_…; the others: the headers webhook-id, webhook-timestamp and
// webhook-signature; body: the raw body as a Buffer.
export function verify(secret, id, timestamp, signature, body) {
  if (!id || !signature || !/^\\d+$/.test(timestamp)) return false
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key)
    .update(\`\${id}.\${timestamp}.\`).update(body).digest()
  return signature.split(' ').some((one) => {
    const [version, value = ''] = one.split(',')
    const given = Buffer.from(value, 'base64')
    return version === 'v1' && given.length === expected.length &&
      timingSafeEqual(given, expected)
  })
}
`
