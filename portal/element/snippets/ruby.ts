export const ruby = `require "openssl"

# secret: whsec_...; the others: the headers webhook-id, webhook-timestamp and
# webhook-signature; body: the raw body.
def verify(secret, id, timestamp, signature, body)
  return false unless id && signature && timestamp.to_s.match?(/\\A\\d+\\z/)
  return false if (Time.now.to_i - timestamp.to_i).abs > 300

  key = secret.delete_prefix("whsec_").unpack1("m")
  digest = OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.".b + body.b)
  expected = "v1," + [digest].pack("m0")
  signature.split(" ").any? { |one| OpenSSL.secure_compare(one, expected) }
end
`
