import { fixedKey, verifyToken } from '../../functions/_shared/messages/callbacks/token.ts'
import { runCommand, type Values } from './command.ts'
import { SetupError } from './errors.ts'
import { print } from './print.ts'

const variable = 'OUTHOOK_WHATSAPP_VERIFY_SECRET'

const help = `Tell the verify token of a callback address, which Meta's dashboard asks for.

  ${variable}=… npx -y deno@2.9.6 task whatsapp:token [--key <app key>]

  --key   of the app, as outbox.get_whatsapp_app() shows it; without it the token is that of
          ${fixedKey}
  --help  show this`

const flags = { key: { type: 'string', default: fixedKey } } as const

function run({ key = fixedKey }: Values<typeof flags>): Promise<number> {
  const [secret = ''] = (Deno.env.get(variable) ?? '').split(',').map((word) => word.trim())
  if (secret.length < 32) {
    throw new SetupError(
      `${variable} is not set here to what the functions have: 32 characters or more`,
    )
  }
  print(verifyToken(secret, key))
  return Promise.resolve(0)
}

if (import.meta.main) await runCommand({ help, flags, run })
