/** Schemes may be followed by `//` and an authority; `file:` without an authority is a path of the server. */
const URL_LIKE = /[a-z][a-z0-9+.-]*:[\\/]{2}([^\s"'`<>\\/]*)/gi;
/** `//host/x` and `\\host\x`. */
const NO_SCHEME = /^[\\/]{2}([^\s\\/]+)/;
const EMAIL = /[^\s@"'`<>()[\],;:\\/]+@[^\s@"'`<>()[\],;:\\/]+/;
const IP = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.%]+\]|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})$/i;
const HOST = /^(?:[\p{L}\p{N}_-]{1,63}\.)+(\p{L}{2,63}|xn--[a-z0-9-]{1,59})\.?$/u;
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
export function hasForeignAddress(args: unknown, hosts: readonly string[], name = '', depth = 0): boolean {
  if (depth > MAX_DEPTH) return true;
  if (typeof args === 'string') return isForeign(args, hosts, ADDRESS_NAME.test(name));
  if (Array.isArray(args)) return args.some((one) => hasForeignAddress(one, hosts, name, depth + 1));
  if (typeof args !== 'object' || args === null) return false;
  return Object.entries(args).some(
    ([key, value]) => isForeign(key, hosts, false) || hasForeignAddress(value, hosts, key, depth + 1),
  );
}

function isForeign(given: string, hosts: readonly string[], isAddress: boolean): boolean {
  const text = decoded(given);
  const isOwn = (host: string) => hosts.includes(host.toLowerCase().replace(/\.$/, ''));
  for (const [url, authority] of text.matchAll(URL_LIKE)) {
    if (!LOCAL_FILE.test(`${url}${text.slice(text.indexOf(url) + url.length)}`) && !isOwn(hostOf(authority!)))
      return true;
  }
  if (EMAIL.test(text.replace(URL_LIKE, ' '))) return true;
  const searched = SQL.test(text) ? (text.match(LITERAL) ?? []).join(' ') : text;
  return searched
    .replace(URL_LIKE, ' ')
    .split(SEPARATOR)
    .some((token) => {
      const host = hostIn(token, isAddress);
      return host !== null && !isOwn(host);
    });
}

/** Full-width and percent-encoded characters, as a server may read them. */
function decoded(text: string): string {
  const normal = text
    .normalize('NFKC')
    .replace(/[\u200b-\u200d\u2060\ufeff\u00ad]/g, '')
    .replace(/[。．｡]/g, '.');
  return normal.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** The host with which a text without spaces begins; `null` without one. */
function hostIn(token: string, isAddress: boolean): string | null {
  const [, network] = NO_SCHEME.exec(token) ?? [];
  if (network !== undefined) return hostOf(network);
  const [, start, rest] = /^([^/\\?#]*)(.*)$/s.exec(token)!;
  const [, host, port] = /^(.*?)(:\d{1,5})?$/s.exec(start!)!;
  if ([start!, host!].some((one) => IP.test(one))) return host!;
  const name = host!.replace(/^[.:*~^$]+|[.:!?*]+$/g, '');
  if (name.toLowerCase() === 'localhost') return name;
  const isAlone = `${port ?? ''}${rest}` === '';
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
