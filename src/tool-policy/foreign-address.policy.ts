/**
 * Any scheme with `//`, and the schemes of the web without: `https:evil.example` is a URL, too. `file:` without an
 * authority is a path of the server.
 */
const URL_LIKE = /(?:[a-z][a-z0-9+.-]{0,30}:[\\/]{2}|\b(?:https?|wss?|ftp):(?=[^\s"'`<>]))[\\/]*([^\s"'`<>/]*)/gi;
/** `//host/x` and `\\host\x`. */
const NO_SCHEME = /^[\\/]{2}([^\s\\/]+)/;
/** The end of an unquoted local part, or of a quoted one before a domain with a dot. */
const EMAIL = /[^\s@"'`<>()[\],;:\\/]@[^\s@"'`<>()[\],;:\\/]+|["'`]@[^\s@"'`<>()[\],;:\\/.]*\.[^\s@"'`<>()[\],;:\\/]+/g;
/** Maximum length of a host with port and punctuation. */
const MAX_HOST = 400;
/** Maximum length of a local part of an e-mail address that is compared. */
const MAX_LOCAL = 320;
const IP = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.%]+\]|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})$/i;
const HOST = /^(?:localhost|(?:[\p{L}\p{N}_-]{1,63}\.)+(?:\p{L}{2,63}|xn--[a-z0-9-]{1,59}))\.?$/iu;
const SEPARATOR = /[\s"'`<>(){}[\],;|=]+/;
/** Endings of file names, some of which are also domains; `evil.md/x`, `evil.md:80` and `a.evil.md` are addresses. */
const FILE_ENDINGS: ReadonlySet<string> = new Set(
  (
    'avi bash bat bin bmp bz2 c cc cfg cjs class conf cpp cs css csv dart db doc docx env exe flac gif go gz h heic hpp htm ' +
    'html ico ini ipynb jar java jpeg jpg js json jsonl jsx key kt lock log lua md mdx mjs mkv mov mp3 mp4 mts odt ogg ' +
    'parquet pdf pem php pl png ppt pptx proto ps py r rar rb rs rtf sass scala scss sh sql sqlite svelte svg swift tar ' +
    'tex tf tgz tiff toml ts tsv tsx txt vue wasm wav webm webp xls xlsx xml xz yaml yml zip zst'
  ).split(' '),
);
/** Those of them that are domains, too: a name with several dots may be a host. */
const DOMAIN_ENDINGS: ReadonlySet<string> = new Set('cc md mov pl ps py rs sh tf zip'.split(' '));
/** Names of arguments whose value is an address, even if it looks like the name of a file. */
const ADDRESS_NAME = /url|uri|host|domain|site|server|endpoint|address|e?mail|recipient|link|webhook|origin/i;
/** Identifiers like `u.id` are no hosts outside of the literals of a query. */
const SQL = /^\s*(?:select|with|explain|show|describe|pragma|table|values)\b/i;
const LITERAL = /'(?:[^']|'')*'/g;
const LOCAL_FILE = /^file:\/\/\/(?![\\/])/i;
const MAX_DEPTH = 64;

/**
 * Whether arguments contain an absolute URL, a host name, an IP address or an e-mail address that is not one of the
 * server's own hosts. In doubt it is one. Names of files and columns of a query do not count.
 * @param hosts in lower case
 */
export function hasForeignAddress(args: unknown, hosts: readonly string[]): boolean {
  for (const address of addressesIn(args)) if (!hosts.includes(address)) return true;
  return false;
}

/**
 * The hosts and e-mail addresses in arguments, in lower case; `null` for more than `limit`, or if one has no exact text.
 */
export function boundAddresses(args: unknown, limit: number): readonly string[] | null {
  const found = new Set<string>();
  for (const address of addressesIn(args)) {
    found.add(address);
    if (address === UNKNOWN || found.size > limit) return null;
  }
  return [...found].toSorted();
}

/** An address without an exact text: in deeper values, or with a quoted local part. It equals no host. */
const UNKNOWN = '?';

function* addressesIn(args: unknown, name = '', depth = 0): Generator<string> {
  if (depth > MAX_DEPTH) yield UNKNOWN;
  else if (typeof args === 'string') yield* addressesOf(args, ADDRESS_NAME.test(name));
  else if (Array.isArray(args)) for (const one of args as unknown[]) yield* addressesIn(one, name, depth + 1);
  else if (typeof args === 'object' && args !== null) {
    for (const [key, value] of Object.entries(args)) {
      yield* addressesOf(key, false);
      yield* addressesIn(value, key, depth + 1);
    }
  }
}

function* addressesOf(given: string, isAddress: boolean): Generator<string> {
  const text = decoded(given);
  for (const { 0: url, 1: authority = '', index } of text.matchAll(URL_LIKE)) {
    if (!LOCAL_FILE.test(`${url}${text.slice(index + url.length, index + url.length + 2)}`)) yield* hostsOf(authority);
  }
  const rest = text.replace(URL_LIKE, ' ');
  for (const { 0: end, index } of rest.matchAll(EMAIL)) yield emailAt(rest, index, end);
  const searched = SQL.test(text) ? (text.match(LITERAL) ?? []).join(' ') : text;
  for (const token of searched.replace(URL_LIKE, ' ').split(SEPARATOR)) {
    const host = hostIn(token, isAddress);
    if (host !== null) yield normal(host);
  }
}

/** An authority as all parsers may read it: `\\`, `?` and `#` end it for some only. */
function* hostsOf(authority: string): Generator<string> {
  const [start = ''] = authority.split(/[\\?#]/, 1);
  yield normal(hostOf(start));
  if (authority.length > start.length && authority.includes('@')) yield normal(hostOf(authority));
}

/** The address whose local part ends at `index`. */
function emailAt(text: string, index: number, end: string): string {
  if (/^["'`]/.test(end)) return UNKNOWN;
  const before = text.slice(Math.max(0, index + 1 - MAX_LOCAL), index + 1);
  const local = /[^\s@"'`<>()[\],;:\\/]*$/.exec(before)?.[0] ?? '';
  return normal(`${local}${end.slice(1)}`);
}

function normal(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

/** Full-width and percent-encoded characters, as a server may read them. */
function decoded(text: string): string {
  const plain = text
    .normalize('NFKC')
    .replace(/[\u200b-\u200d\u2060\ufeff\u00ad]/g, '')
    .replace(/[。．｡]/g, '.');
  return plain.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The host with which a text without spaces begins; `null` without one. */
function hostIn(token: string, isAddress: boolean): string | null {
  const [, network] = NO_SCHEME.exec(token) ?? [];
  if (network !== undefined) return hostOf(network);
  const [, start, rest] = /^([^/\\?#]*)(.*)$/s.exec(token)!;
  if (start!.length > MAX_HOST) return null;
  const [, host, port] = /^(.*?)(:\d{1,5})?$/s.exec(start!)!;
  if ([start!, host!].some((one) => IP.test(one))) return host!;
  const name = host!.replace(/^[.:*~^$]+|[.:!?*]+$/g, '');
  const isAlone = port === undefined && rest === '';
  return HOST.test(name) && !(isAlone && !isAddress && isFileName(name)) ? name : null;
}

/** Whether a name with dots is that of a file. */
function isFileName(name: string): boolean {
  const labels = name.toLowerCase().split('.');
  const ending = labels.at(-1)!;
  return FILE_ENDINGS.has(ending) && (labels.length === 2 || !DOMAIN_ENDINGS.has(ending));
}

/** The host of an authority, without user and port. */
function hostOf(authority: string): string {
  return authority.replace(/^.*@/, '').replace(/:\d*$/, '');
}
