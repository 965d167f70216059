import type { ContentClass } from '../../src/security/content/index.js';

const CR = '\r\n';
const KEY_BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC';
export const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${KEY_BODY}\n${KEY_BODY}\n-----END RSA PRIVATE KEY-----`;
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U';
/** Built at run time, so that no secret scanner reports this file. */
export const key = (prefix: string, length: number, character = 'a') => prefix + character.repeat(length);

/** Content as it is commonly written. */
export const FOUND: readonly (readonly [ContentClass, string])[] = [
  ['secrets', key('sk-', 48)],
  ['secrets', key('sk-proj-', 48)],
  ['secrets', key('sk-ant-api03-', 80)],
  ['secrets', key('sk_live_', 24)],
  ['secrets', key('AKIA', 16, 'Q')],
  ['secrets', key('AIza', 35)],
  ['secrets', key('ghp_', 36)],
  ['secrets', key('github_pat_', 40)],
  ['secrets', key('glpat-', 20)],
  ['secrets', key('xoxb-', 24, '1')],
  ['secrets', key('npm_', 36)],
  ['secrets', key('hf_', 34)],
  ['secrets', `${key('SG.', 22)}.${key('', 43)}`],
  ['secrets', JWT],
  ['secrets', PEM],
  ['secrets', PEM.replaceAll('\n', CR)],
  ['secrets', PEM.replaceAll('RSA ', 'EC ')],
  ['secrets', PEM.replaceAll('RSA PRIVATE KEY', 'PGP PRIVATE KEY BLOCK')],
  ['cards', '4111111111111111'],
  ['cards', '4111 1111 1111 1111'],
  ['cards', '4111-1111-1111-1111'],
  ['cards', '5555555555554444'],
  ['cards', '2223003122003222'],
  ['cards', '378282246310005'],
  ['cards', '3782 822463 10005'],
  ['cards', '6011111111111117'],
  ['cards', '3530111333300000'],
  ['cards', '6200000000000005'],
  ['cards', '30569309025904'],
  ['ids', '11010519491231002X'],
  ['ids', '440524188001010014'],
  ['ids', '123-45-6789'],
  ['ids', 'DE89370400440532013000'],
  ['ids', 'DE89 3704 0044 0532 0130 00'],
  ['ids', 'GB82 WEST 1234 5698 7654 32'],
  ['ids', 'NO9386011117947'],
  ['emails', 'ann@example.com'],
  ['emails', 'ann.b+c_d%e@mail.example.co.uk'],
];

const fullWidth = (text: string) =>
  text.replaceAll(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));
const digits = (text: string, zero: number) =>
  text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));
const escaped = (text: string) =>
  Array.from(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const invisible = (text: string, character: string) => Array.from(text).join(character);

const CARD = '4111 1111 1111 1111';
const RESIDENT = '110105 19491231 002X';
const SSN = '123-45-6789';
const IBAN = 'DE89 3704 0044 0532 0130 00';
const MAIL = 'ann.b@mail.example';
const KEY = key('sk-proj-', 40, 'B');
const between = (text: string, separator: string) => text.replaceAll(/[ -]/g, separator);

/** The same content in different spellings. */
export const SPELLINGS: readonly (readonly [ContentClass, spelling: string, text: string])[] = [
  ...(['cards', 'ids'] as const).flatMap((name) =>
    (name === 'cards' ? [CARD] : [RESIDENT, SSN, IBAN]).flatMap((text) =>
      [
        ['with no-break spaces', between(text, '\u00a0')],
        ['with narrow spaces', between(text, '\u202f')],
        ['with ideographic spaces', between(text, '\u3000')],
        ['with hyphens', between(text, '-')],
        ['with non-breaking hyphens', between(text, '\u2011')],
        ['with en dashes', between(text, '\u2013')],
        ['with minus signs', between(text, '\u2212')],
        ['with dots', between(text, '.')],
        ['with middle dots', between(text, '\u00b7')],
        ['with zero-width spaces', invisible(text, '\u200b')],
        ['with full-width characters', fullWidth(text)],
        ['with Arabic digits', digits(text, 0x0660)],
        ['with mathematical digits', digits(text, 0x1d7ce)],
        ['with escapes', escaped(text)],
        ['in small letters', text.toLowerCase()],
      ].map(([spelling, written]) => [name, `${text} ${spelling}`, written!] as const),
    ),
  ),
  ['ids', 'an IBAN in small letters without spaces', IBAN.replaceAll(' ', '').toLowerCase()],
  ['ids', 'an IBAN in mixed letters', 'De89 3704 0044 0532 0130 00'],
  ['ids', 'an IBAN with letters in small letters', 'gb82 west 1234 5698 7654 32'],
  ['emails', 'with an escaped @', MAIL.replace('@', '\\u0040')],
  ['emails', 'with an @ that is escaped twice', MAIL.replace('@', '\\\\u0040')],
  ['emails', 'all escaped', escaped(MAIL)],
  ['emails', 'with a full-width @', MAIL.replace('@', '＠')],
  ['emails', 'with full-width characters', fullWidth(MAIL)],
  ['emails', 'with a soft hyphen', MAIL.replace('mail', 'ma\u00adil')],
  ['secrets', 'a key with non-breaking hyphens', KEY.replaceAll('-', '\u2011')],
  ['secrets', 'a key in full-width characters', fullWidth(KEY)],
  ['secrets', 'a key with zero-width spaces', invisible(KEY, '\u200b')],
  ['secrets', 'a key with an escape', KEY.replace('-', '\\u002d')],
  ['secrets', 'a private key with en dashes', '–––––BEGIN PRIVATE KEY–––––\nMIIE\n–––––END PRIVATE KEY–––––'],
];

/** The password of a URL in different spellings, with the URL. */
export const PASSWORDS: readonly (readonly [url: string, masked: string])[] = [
  ['postgres://ann:pa/ss@db:5432/x', 'postgres://ann:[secrets]@db:5432/x'],
  ['postgres://ann:pa@ss@db:5432/x', 'postgres://ann:[secrets]@db:5432/x'],
  ['postgres://ann:p@/a@@ss/@db/x', 'postgres://ann:[secrets]@db/x'],
  ['postgres://ann:12/34@db/x', 'postgres://ann:[secrets]@db/x'],
  ['postgres:\\/\\/ann:pa\\/ss@db\\/x', 'postgres:\\/\\/ann:[secrets]@db\\/x'],
  ['redis://:p%40ss:w?rd#@h', 'redis://:[secrets]@h'],
  ['https://ann:1234@h', 'https://ann:[secrets]@h'],
  ['postgres：／／ann：pass＠db', 'postgres：／／ann：[secrets]＠db'],
  ['a://b:c@d,e://f:g@h', 'a://b:[secrets]@d,e://f:[secrets]@h'],
  ['mysql://root:pässwörd@h', 'mysql://root:[secrets]@h'],
];

/** Texts without any content of these kinds, though they look alike. */
export const HONEST: readonly string[] = [
  'from sk-learn-pipeline-with-standard-scaler import x',
  'the sk-learn-pipeline-example-notebook-2024-v2, and sk-Learn-Pipeline-Example-Notebook',
  'read github_pat_tokens_are_described_in_the_docs and glpat-tokens-are-described-there',
  'task-force-of-many-people-and-more',
  'IP 192.168.100.200, version 10.20.30.40, on 2024.11.22 at 12.30.45',
  '3.1415926535897932, 0.30000000000000004, 4.111111111111111 and 41.40338, 2.17403',
  '{"lat":41.4033812345678,"lng":2.17403,"n":0.4000000000000002,"at":1764000000011}',
  'call 123-456-7890, +49 30 123 45 67 or 13800138000',
  'http://localhost:5173/@vite/client and https://example.com:8443/@ann/post?x=a@b',
  'https://ann@example/x:y and git@host:path and ann@localhost',
  'in june 2024 is20 weeks of rain be12 left and at61 nothing more than words',
  '我们在２０２４年１１月２２日开会，参加的人有１２３４５６７位。电话号码是０１０－１２３４５６７８。',
  'ORD-2024-11-22-0001, 1764000000011, 000-45-6789, 666-45-6789',
  'a 4111 1111 1111 1112, 1111111111111117, 41111111111111111111',
  'e4d909c290d0fb1ca068ffaddf22cbd0 da39a3ee5e6b4b0d3255bfef95601890afd80709 550e8400-e29b-41d4-a716-446655440000',
  'C:\\users\\new\\test and \\u0041 and \\/',
  '٢٠٢٤ ١١ ٢٢, ①②③, ½, ﬁ',
];
