import type { Cookie, CookieJar } from 'tough-cookie';
import type { JsonValue } from '../../../common/index.js';
import type { OutgoingCookies } from '../../../security/index.js';
import type { StateData } from '../../state/tool-state.types.js';

type Library = typeof import('tough-cookie');

/** What a session keeps of strangers at most: that many cookies, the newest, each of that length. */
const MOST_COOKIES = 50;
const MOST_CHARACTERS = 4096;
/** The longest life of a cookie, in s: 400 days (RFC 6265bis, 5.5). */
const LONGEST_S = 34_560_000;
const PREFIX = 'cookie:';

/** The cookies of a session in one call: which are sent where is RFC 6265's business, and `tough-cookie`'s. */
export class HeldCookies implements OutgoingCookies {
  private readonly jar: CookieJar;
  private readonly found: StateData;

  private constructor(
    private readonly library: Library,
    held: StateData,
  ) {
    const store = new library.MemoryCookieStore();
    // A place of this machine is no more trusted than another: what is for https goes by https.
    this.jar = new library.CookieJar(store, { allowSecureOnLocal: false });
    this.found = Object.fromEntries(Object.entries(held).filter(([key]) => key.startsWith(PREFIX)));
    for (const entry of Object.values(this.found)) {
      const cookie = library.Cookie.fromJSON(entry);
      if (cookie) store.putCookie(cookie, () => undefined);
    }
  }

  /** Of what a connection holds; the library is loaded at the first one. */
  static async of(held: StateData): Promise<HeldCookies> {
    return new HeldCookies(await import('tough-cookie'), held);
  }

  headerFor(url: URL): string | undefined {
    const header = this.jar.getCookieStringSync(url.href);
    return header === '' ? undefined : header;
  }

  take(url: URL, lines: readonly string[]): void {
    for (const line of lines) {
      const cookie = line.length <= MOST_CHARACTERS ? this.library.Cookie.parse(line) : undefined;
      if (cookie) this.jar.setCookieSync(endingInTime(cookie), url.href, { ignoreError: true });
    }
  }

  /** What nobody may be told, also of those that have just gone. */
  get values(): readonly string[] {
    const before = Object.values(this.found).map((entry) => (entry as { value?: string }).value ?? '');
    return [...before, ...this.kept().map(({ value }) => value)];
  }

  /** What is otherwise than it was found; `null` for what is gone. */
  changes(): Record<string, JsonValue> {
    const now = Object.fromEntries(this.kept().map((cookie) => [keyOf(cookie), toEntry(cookie)]));
    const gone = Object.keys(this.found).filter((key) => !Object.hasOwn(now, key));
    const isNew = ([key, entry]: readonly [string, JsonValue]) =>
      JSON.stringify(this.found[key]) !== JSON.stringify(entry);
    return Object.fromEntries([...gone.map((key) => [key, null] as const), ...Object.entries(now).filter(isNew)]);
  }

  private kept(): readonly Cookie[] {
    const all = (this.jar.serializeSync()?.cookies ?? []).map((entry) => this.library.Cookie.fromJSON(entry));
    const live = all.filter((cookie) => cookie !== undefined).filter((cookie) => cookie.TTL() > 0);
    return live.toSorted((one, other) => madeAt(other) - madeAt(one)).slice(0, MOST_COOKIES);
  }
}

/** `max-age` counts from when the cookie came; the library would count it anew from each time that it is sent. */
function endingInTime(cookie: Cookie): Cookie {
  const { maxAge } = cookie;
  if (maxAge === null) return cookie;
  const lifetimeS = typeof maxAge === 'number' ? maxAge : maxAge === 'Infinity' ? LONGEST_S : 0;
  cookie.expires = lifetimeS > 0 ? new Date(Date.now() + Math.min(lifetimeS, LONGEST_S) * 1000) : new Date(0);
  cookie.maxAge = null;
  return cookie;
}

function keyOf({ domain, path, key }: Cookie): string {
  return PREFIX + JSON.stringify([domain, path, key]);
}

function madeAt({ creation }: Cookie): number {
  return creation instanceof Date ? creation.getTime() : 0;
}

/** When it was last sent is of no interest, and would be a change with every call. */
function toEntry(cookie: Cookie): JsonValue {
  const { lastAccessed: _sent, ...entry } = cookie.toJSON();
  return entry as JsonValue;
}
