export const java = `import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Webhook {
  // secret: whsec_...; the others: the headers webhook-id, webhook-timestamp and
  // webhook-signature; body: the raw body.
  static boolean verify(
      String secret, String id, String timestamp, String signature, byte[] body)
      throws GeneralSecurityException {
    if (id == null || signature == null || timestamp == null) return false;
    if (!timestamp.matches("[0-9]{1,12}")) return false;
    long age = System.currentTimeMillis() / 1000 - Long.parseLong(timestamp);
    if (Math.abs(age) > 300) return false;
    byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
    String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
    for (String one : signature.split(" ")) {
      if (MessageDigest.isEqual(one.getBytes(), expected.getBytes())) return true;
    }
    return false;
  }
}
`
