import { fixedKey, verifyToken } from '../../functions/_shared/messages/callbacks/token.ts'
import { runCommand, type Values } from './command.ts'
import { SetupError } from './errors.ts'
import { print } from './print.ts'

const variable = 'OUTHOOK_WHATSAPP_VERIFY_SECRET'

const help = `Print the verify token of a callback address, for Meta's dashboard.

  ${variable}=… npx -y deno@2.9.6 task whatsapp:token [--key <app key>]

  --key   the app key from outbox.get_whatsapp_app(); default: the address
          ${fixedKey}
  --help  show this`

const flags = { key: { type: 'string', default: fixedKey } } as const

function run({ key = fixedKey }: Values<typeof flags>): Promise<number> {
  const [secret = ''] = (Deno.env.get(variable) ?? '').split(',').map((word) => word.trim())
  if (secret.length < 32) {
    throw new SetupError(
      `${variable} is not set: set it to the value that the functions have (at least 32 characters)`,
    )
  }
  print(verifyToken(secret, key))
  return Promise.resolve(0)
}

if (import.meta.main) await runCommand({ help, flags, run })
