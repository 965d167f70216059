import { loadPackage } from '../../errors/index.js';
import type { Cookie, CookieJar } from 'tough-cookie';
import type { JsonValue } from '../../kernel/json/index.js';
import type { OutgoingCookies } from '../../security/egress/index.js';
import type { StateData } from '../../tool/stateful/index.js';

type Library = typeof import('tough-cookie');

/** Maximum cookies per session (the newest), and maximum length of each in characters. */
const MOST_COOKIES = 50;
const MOST_CHARACTERS = 4096;
/** Maximum lifetime of a cookie, in s: 400 days (RFC 6265bis, 5.5). */
const LONGEST_S = 34_560_000;
const PREFIX = 'cookie:';

/** The cookie jar of a session during one call. `tough-cookie` implements the rules of RFC 6265. */
export class HeldCookies implements OutgoingCookies {
  private readonly jar: CookieJar;
  private readonly found: StateData;

  private constructor(
    private readonly library: Library,
    held: StateData,
  ) {
    const store = new library.MemoryCookieStore();
    // Localhost gets no exception: cookies marked Secure are sent over https only.
    this.jar = new library.CookieJar(store, { allowSecureOnLocal: false });
    this.found = Object.fromEntries(Object.entries(held).filter(([key]) => key.startsWith(PREFIX)));
    for (const entry of Object.values(this.found)) {
      const cookie = library.Cookie.fromJSON(entry);
      if (cookie) store.putCookie(cookie, () => undefined);
    }
  }

  /** Creates the jar from stored connection state; loads the library at first use. */
  static async of(held: StateData): Promise<HeldCookies> {
    return new HeldCookies(
      await loadPackage('tough-cookie', 'A connection with cookies', () => import('tough-cookie')),
      held,
    );
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

  /** All cookie values, for redaction; includes cookies that were just removed. */
  get values(): readonly string[] {
    const before = Object.values(this.found).map((entry) => (entry as { value?: string }).value ?? '');
    return [...before, ...this.live().map(({ value }) => value)];
  }

  /** Changes to the stored state; `null` removes an entry. */
  changes(): Record<string, JsonValue> {
    const now = Object.fromEntries(this.live().map((cookie) => [keyOf(cookie), toEntry(cookie)]));
    const gone = Object.keys(this.found).filter((key) => !Object.hasOwn(now, key));
    const isNew = ([key, entry]: readonly [string, JsonValue]) =>
      JSON.stringify(this.found[key]) !== JSON.stringify(entry);
    return Object.fromEntries([...gone.map((key) => [key, null] as const), ...Object.entries(now).filter(isNew)]);
  }

  private live(): readonly Cookie[] {
    const all = (this.jar.serializeSync()?.cookies ?? []).map((entry) => this.library.Cookie.fromJSON(entry));
    const live = all.filter((cookie) => cookie !== undefined).filter((cookie) => cookie.TTL() > 0);
    return live.toSorted((one, other) => madeAt(other) - madeAt(one)).slice(0, MOST_COOKIES);
  }
}

/** Converts `max-age` to an expiry time, since the library would restart `max-age` at each use. */
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

/** Omits the time of last use, which would change the state with every call. */
function toEntry(cookie: Cookie): JsonValue {
  const { lastAccessed: _sent, ...entry } = cookie.toJSON();
  return entry as JsonValue;
}
