export const python = `import base64
import hashlib
import hmac
import re
import time


# secret: whsec_...; the others: the headers webhook-id, webhook-timestamp and
# webhook-signature; body: the raw body as bytes.
def verify(secret, id, timestamp, signature, body):
    if not id or not signature or not re.fullmatch("[0-9]{1,12}", timestamp or ""):
        return False
    if abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    return any(
        hmac.compare_digest(one.encode(), b"v1," + expected)
        for one in signature.split(" ")
    )
`
