export const python = `import base64
import hashlib
import hmac
import time


# secret: whsec_...; the others: the headers webhook-id, webhook-timestamp and
# webhook-signature; body: the raw body as bytes.
def verify(secret, id, timestamp, signature, body):
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any(
        hmac.compare_digest(one.encode(), b"v1," + expected)
        for one in signature.split(" ")
    )
`
