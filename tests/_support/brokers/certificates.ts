/** PEM texts of a throw-away authority and of a server certificate. */
export interface TestCertificates {
  ca: string
  /** Files for servers that want paths. */
  caFile: string
  certFile: string
  keyFile: string
}

/**
 * Makes a CA and a server certificate of its own in `folder`, with openssl. `names` are the subject
 * alternative names.
 */
export async function makeCertificates(
  folder: string,
  names: readonly string[] = ['DNS:localhost', 'IP:127.0.0.1'],
): Promise<TestCertificates> {
  await Deno.mkdir(folder, { recursive: true })
  const extensions = `${folder}/extensions`
  await Deno.writeTextFile(extensions, `subjectAltName = ${names.join(', ')}\n`)
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const file = (name: string): string => `${folder}/${name}.pem`
  await openssl(['req', '-x509', ...ec, '-days', '30', '-subj', '/CN=Outhook test CA'], {
    keyout: file('ca-key'),
    out: file('ca'),
  })
  await openssl(['req', '-new', ...ec, '-subj', '/CN=localhost'], {
    keyout: file('key'),
    out: file('request'),
  })
  await openssl(['x509', '-req', '-days', '30', '-CAcreateserial', '-extfile', extensions], {
    in: file('request'),
    CA: file('ca'),
    CAkey: file('ca-key'),
    out: file('cert'),
  })
  return {
    ca: await Deno.readTextFile(file('ca')),
    caFile: file('ca'),
    certFile: file('cert'),
    keyFile: file('key'),
  }
}

async function openssl(args: string[], files: Record<string, string>): Promise<void> {
  const named = Object.entries(files).flatMap(([name, path]) => [`-${name}`, path])
  const { success, stderr } = await new Deno.Command('openssl', { args: [...args, ...named] })
    .output()
  if (!success) throw new Error(`openssl ${args[0]}: ${new TextDecoder().decode(stderr)}`)
}
