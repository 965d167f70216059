/** Shapes of secrets: fields named as such, bearer tokens, providers' keys, our API keys, tokens, passwords in URLs. */
const SHAPES: readonly string[] = [
  String.raw`(?<="(?:apiKey|[Aa]uthorization)":")(?:[^"\\]|\\.)+`,
  String.raw`(?<before>\b[Bb]earer +)[\w.~+/=-]{8,}`,
  // Not names that read as words, as `sk-learn-pipeline`.
  String.raw`\bsk-(?![a-z]{2,20}(?:-[a-z]{2,20}\d{0,4})+(?![\w-]))[\w-]{8,}`,
  String.raw`\bjd_[\w-]{20,}`,
  String.raw`\b(?:gh[pousr]_|github_pat_|xox[a-z]-)[\w-]{16,}`,
  String.raw`\bA(?:KIA|SIA)[A-Z0-9]{16}\b`,
  // A JSON Web Token.
  String.raw`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+`,
  // A password may contain `/` and `@`; digits and a slash behind a host are a port.
  String.raw`(?<=://)(?![^\s/@:"\\]*:\d{1,5}[/?#])[^\s/@:"\\]*:[^\s"\\]{1,1024}(?=@)`,
  String.raw`(?<=://)[^\s/@"\\]+(?=@)`,
];

/** Maximum length of a text in which secrets are searched at once, in UTF-16 units. */
const MAX_PIECE = 512 * 1024;
/** Replaces a secret in a text. */
const CENSOR = '[redacted]';
/** Shorter values are placeholders and may be part of other words. */
export const MIN_SECRET_LENGTH = 8;

/** Names of headers whose value is likely a secret. */
export const SECRET_HEADER = /auth|key|token|secret|cookie/i;

/**
 * The texts to mask for a header: its value, and the parts that a server may quote alone, such as the token of
 * `Bearer <token>` and the values of `a=<value>; b="<value>"`. A part without a digit is masked only if the name of the
 * header is that of a secret.
 */
export function headerSecrets(name: string, value: string): string[] {
  const parts = value.split(/[\s;,]+/).flatMap((part) => [part, part.slice(part.indexOf('=') + 1).replaceAll('"', '')]);
  const isSecret = SECRET_HEADER.test(name);
  const own = parts.filter((part) => part.length >= MIN_SECRET_LENGTH && (isSecret || /\d/.test(part)));
  return [...new Set([value, ...own])];
}

/** A name of a secret, also at the end of a longer name such as `DB_PASSWORD`. */
const NAME = String.raw`(?<![a-z\d])(?:api[_-]?key|access[_-]?token|auth[_-]?token|refresh[_-]?token|token|client[_-]?secret|secret|password|passwd|pwd|signature)`;
const UNMASKED = String.raw`(?!\[redacted\])`;

/** A value that is assigned to a secret's name: a string in JSON, a quoted value, or a part of a query or similar. */
const ASSIGNED = new RegExp(
  [
    String.raw`(${NAME}"\s*:\s*"|${NAME}=")${UNMASKED}(?:[^"\\]|\\.)+`,
    String.raw`(${NAME}=')${UNMASKED}[^']+`,
    String.raw`(${NAME}=)${UNMASKED}[^\s&"';,)}\]]+`,
  ].join('|'),
  'gi',
);

/**
 * Creates a function that masks secret-shaped texts and known secrets.
 * @param known values that are secrets; those under 8 characters are ignored
 */
export function createSecretMask(known: readonly string[] = []): (text: string) => string {
  const values = new Set(known.filter((secret) => secret.length >= MIN_SECRET_LENGTH));
  // The longest first: another one may be its start.
  const longestFirst = [...values].toSorted((one, other) => other.length - one.length);
  const secrets = new RegExp([...longestFirst.map(escaped), ...SHAPES].join('|'), 'g');
  const mask = (text: string): string => text.replace(secrets, (...args) => `${beforeOf(args)}${CENSOR}`);
  return (text) => inPieces(text, longestFirst, mask);
}

/**
 * Maps a long text in pieces: V8 throws a RangeError for a match of a few million characters. A piece ends before
 * white space or a comma in its second half, otherwise anywhere, and never inside a known secret.
 */
function inPieces(text: string, secrets: readonly string[], map: (piece: string) => string): string {
  let mapped = '';
  let at = 0;
  while (text.length - at > MAX_PIECE) {
    const piece = text.slice(at, at + MAX_PIECE);
    const gap = Math.max(...[' ', '\n', ','].map((character) => piece.lastIndexOf(character)));
    let end = at + (gap > MAX_PIECE / 2 ? gap : MAX_PIECE);
    for (const secret of secrets) {
      const from = Math.max(at + 1, end - secret.length + 1);
      const found = text.slice(from, end + secret.length - 1).indexOf(secret);
      if (found >= 0) end = from + found;
    }
    mapped += map(text.slice(at, end));
    at = end;
  }
  return mapped + map(text.slice(at));
}

const maskShapes = createSecretMask();

/**
 * Masks secrets in the message of an error: also values that are assigned to a secret's name.
 * @param known values that are secrets; those under 8 characters are ignored
 */
export function maskSecrets(text: string, known: readonly string[] = []): string {
  const mask = known.length > 0 ? createSecretMask(known) : maskShapes;
  return inPieces(mask(text), [], (piece) => piece.replace(ASSIGNED, `$1$2$3${CENSOR}`));
}

/** The part of a match that is no secret. */
function beforeOf(args: readonly unknown[]): string {
  return (args.at(-1) as { before?: string }).before ?? '';
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
