/**
 * Patterns by the reason why a matcher that goes back takes too long for them, each with the text that
 * makes it. Many are the shapes of expressions that programs use for dates, addresses, paths and markup.
 */

type Text = (length: number) => string

/** The text repeated up to about this length. */
function many(text: string): Text {
  return (length) => text.repeat(Math.ceil(length / text.length))
}

/** `first`, then `text` repeated up to about this length. */
function after(first: string, text: string): Text {
  return (length) => first + many(text)(length - first.length)
}

export const patternFamilies: Record<string, [pattern: string, text: Text][]> = {
  'neighbours that match the same': [
    ['[\\w.-]*[\\w-]*[\\w]*@', many('a')],
    ['^\\d+\\.?\\d*\\.?\\d*\\.?\\d*e', many('1')],
    ['\\s*\\n?\\s*\\n?\\s*x', many('\n')],
    ['^[ \\t]*[^\\n]*[ \\t]*$x', many(' ')],
    ['\\w+\\d+\\w+\\d+!', many('1')],
    ['(\\S+)\\s*:\\s*(\\S+)\\s*;', many(':')],
    ['[a-z]+[a-y]+[a-x]+[a-w]+Z', many('a')],
    ['.+,.+,.+,.+;', many(',')],
    ['(?:a{3,}){1}a{3,}a{3,}b', many('a')],
    ['x*y*x*y*x*y*z', many('xy')],
  ],
  'repeats within repeats': [
    ['(?:a{2,3}){2,}b', many('a')],
    ['(?:a{0,3}b{0,3}){0,50}c', many('ab')],
    ['(?:(?:a|b){1,8}){1,8}c', many('ab')],
    ['((a{0,2}){0,5}){0,8}b', many('a')],
    ['(?:a*){20}b', many('a')],
    ['(?:a+?){3,}?b', many('a')],
    ['(?:(?:a{1,2}){1,2}){1,2}(?:a*)*b', many('a')],
    ['(?:(?:a*b*)*c*)*d', many('abc')],
    ['(?:[a-z]+-?)+_', many('a')],
    ['(?:(?:\\w+ ?)+,?)+!', many('a ')],
    ['(?:a+(?:b+(?:c+)*)*)*d', many('abc')],
  ],
  'choices that overlap': [
    ['(?:\\w|\\d|_)*!', many('1_a')],
    ['(?:[a-z]|[b-y]|[c-x])+!', many('m')],
    ['(?:ab|a|b)*c', many('ab')],
    ['(?:foo|fo|f|o)*x', many('foo')],
    ['(?:\\r\\n|\\r|\\n)*x', many('\r\n')],
    ['(?:a|b|c|d|e|f|g|h|i|j|k|l|m)*n', many('abcdefghijklm')],
    ['(?:x|xy|yx|y)*z', many('xy')],
    ['(?:aaa|aa)*b|(?:aa|a)*c', many('a')],
    ['(?:a|a{2}|a{3}|a{4}|a{5})+b', many('a')],
    ['(?:[^,]|,[^,]|,,)*;', many(',')],
  ],
  'characters beyond ASCII': [
    ['(?:\\p{Script=Greek}|\\p{L})*!', many('αβγ')],
    ['(?:\\p{Emoji}|.)*x', many('👍🏽')],
    ['[\\p{L}\\p{M}]*[\\p{L}\\p{N}]*!', many('e\u0301')],
    ['(?:\\P{L}|\\s)*x', many('\u2003')],
    ['[^\\p{ASCII}]*[^\\u{0}-\\u{ffff}]*a', many('😀')],
    ['(?:\\u{1f469}|\\u{1f469}\\u200d)*x', many('👩\u200d')],
    ['(?:[\\ud800-\\udbff]|[\\ud800-\\udfff])*a', many('\ud800')],
    ['(?:.|[\\u2028\\u2029])*x', many('\u2028')],
    ['\\p{Lu}*\\p{Ll}*\\p{Lt}*\\p{L}*9', many('ǅ')],
    ['(?:ſ|s|S|[ſs])*x', many('ſ')],
    ['(?:\\u0130|i\\u0307|.)*x', many('i\u0307')],
  ],
  'positions instead of characters': [
    ['(?:^|a)*b', many('a')],
    ['(?:a$|a)*b', many('a')],
    ['(?:\\b|a)*-', many('a')],
    ['(?:\\b\\w+\\b\\s*)+!', many('a ')],
    ['(?:\\w+\\B)*\\W', many('a')],
    ['(?:^a*)*(?:a*$)*b', many('a')],
    ['\\b(?:a|\\b)*\\b!', many('a')],
    ['(?:$|^|\\B|a)+b', many('a')],
    ['^(?!.*a.*b.*c.*d)(?=.*e)x', many('abc')],
    ['^(?=(?:a|aa)*$)(?!(?:aaa)*$)(?=.{0,100}$)b', many('a')],
  ],
  'parts that may be empty': [
    ['(?:a*?)*?b', many('a')],
    ['(?:a??)*b', many('a')],
    ['(?:(?:)|a)*b', many('a')],
    ['(?:a{0})*b', many('a')],
    ['(?:|||a)*b', many('a')],
    ['(?:a?b?c?d?)*e', many('abcd')],
    ['.*?.*?.*?.*?!', many('a')],
    ['(.*?,){11}P', many(',')],
    ['^(?:.*?;)*?x', many(';')],
  ],
  'shapes of everyday values': [
    ['^(?:\\d{4}-?\\d{2}-?\\d{2}T?)+Z$', many('2')],
    ['(?:Mozilla|Opera|.*)*?(?:Chrome|Safari).*Mobile.*!', many('Mozilla')],
    ['\\s*(?:[<>=~^]*\\s*v?\\d+(?:\\.\\d+)*\\s*)*\\|', many('1 ')],
    ['(?:^|;)\\s*[^=]+\\s*=\\s*[^;]*\\s*$!', many(' ')],
    ['!?\\[(?:[^\\[\\]]|\\[[^\\]]*\\])*\\]\\(', many('[')],
    ['^(?:\\s*\\/\\/.*\\n?)*x', many('//')],
    ['<\\w+(?:\\s+\\w+(?:\\s*=\\s*(?:"[^"]*"|[^\\s>]+))?)*\\s*>', after('<a', ' a')],
    ['\\/\\*(?:.|\\n)*?\\*\\/', many('/*')],
    ['url\\(\\s*(["\']?)(.*?)\\s*\\)', many('url(')],
    ['-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?x', many('1')],
    ['^(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=)?!', many('A')],
    ['(?:"(?:[^"]|"")*"|[^,]*)(?:,(?:"(?:[^"]|"")*"|[^,]*))*;', many('""')],
    ['^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\\.)+[a-z]{2,}_$', many('a')],
    ['^(?:[^\\/]*\\/)*[^\\/]*\\.js\\.map$', many('a/')],
    ['^\\$?(?:\\d{1,3},?)*(?:\\.\\d\\d)?x$', many('1')],
    ['^(?:(?:\\d{1,3}\\.){3}\\d{1,3},?)+x$', many('1.1.1.1,')],
    ['^(?:[A-Fa-f0-9]{1,4}:?)*z', many('abcd:')],
    [
      '[\\u001B\\u009B][[\\]()#;?]*(?:(?:(?:[a-zA-Z\\d]*(?:;[a-zA-Z\\d]*)*)?\\u0007)' +
      '|(?:(?:\\d{1,4}(?:;\\d{0,4})*)?[\\dA-PR-TZcf-ntqry=><~]))',
      after('\u001b[', ';'),
    ],
    ['data:[^;,]*(?:;[^;,]*)*;base64,', after('data:', ';a')],
    ['\\{(?:[^{}]|\\{[^{}]*\\})*\\}!', many('{')],
  ],
}
