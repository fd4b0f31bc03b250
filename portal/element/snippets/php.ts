export const php = `<?php
// $secret: whsec_...; the others: the headers webhook-id, webhook-timestamp and
// webhook-signature; $body: file_get_contents('php://input').
function verify(string $secret, ?string $id, ?string $timestamp, ?string $signature, string $body): bool
{
    if (!$id || !$signature || !ctype_digit((string) $timestamp)) {
        return false;
    }
    if (abs(time() - (int) $timestamp) > 300) {
        return false;
    }
    $key = base64_decode(substr($secret, strlen('whsec_')));
    $digest = hash_hmac('sha256', "$id.$timestamp.$body", $key, true);
    $expected = 'v1,' . base64_encode($digest);
    foreach (explode(' ', $signature) as $one) {
        if (hash_equals($expected, $one)) {
            return true;
        }
    }
    return false;
}
`
