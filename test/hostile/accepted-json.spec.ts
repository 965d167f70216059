import { afterAll, beforeAll, expect, it } from 'vitest';
import { HostileWorld } from '../support/hostile-world.js';
import { EXTREMES, FIELDS, hostileServers, jsonFor, NAUGHTY, report } from '../support/hostile-values.js';
import { PLACES } from '../support/json-places.js';
import { describeDatabases } from '../support/test-databases.js';
import { IS_LONG_FORM } from '../support/long-form.js';

/** Short form: number of random JSON values per field, beside every n-th naughty string, by database. */
const SHORT = { sqlite: 20, postgres: 5, mariadb: 5 } as const;
const EVERY = { sqlite: 20, postgres: 100, mariadb: 100 } as const;
const AT_ONCE = 16;
const TIMEOUT_MS = IS_LONG_FORM ? 14_400_000 : 900_000;

/** Property names with a special meaning in libraries. */
const AWKWARD = { ...(EXTREMES.at(-1) as object), toJSON: 3, '': { $ref: '#', $schema: 'x', '~standard': {} } };

/** The one forbidden key inside an otherwise valid value. */
const PROTO: unknown = JSON.parse('{"a": [{"__proto__": {"polluted": true}}]}');

/** The value after a JSON round trip. */
function sent(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Whether the value contains the forbidden key `__proto__`. */
function hasProto(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(hasProto);
}

/** Sends a value and reads it back. @returns a description of the difference, or undefined */
async function fault(world: HostileWorld, place: string, value: unknown): Promise<string | undefined> {
  const wanted = hasProto(value) ? 'refused' : sent(value);
  try {
    const back = await PLACES[place]!(world, value).catch((error: unknown) => refusal(error, value));
    expect(back).toEqual(wanted);
    return undefined;
  } catch (error) {
    return `${JSON.stringify(value)}: ${String(error)}`;
  }
}

/** @throws the error, unless the server refused the value for its forbidden key */
function refusal(error: unknown, value: unknown): string {
  if (hasProto(value) && /^Error: 400 .*"isAllowedKey"/.test(String(error))) return 'refused';
  throw error;
}

describeDatabases('an accepted value', await hostileServers(), (database, kind) => {
  let world: HostileWorld;
  beforeAll(async () => {
    world = await HostileWorld.start(database());
  });
  afterAll(() => world.stop());

  it.each(Object.keys(PLACES).map((place, index) => ({ place, index })))(
    'is returned unchanged for any JSON: $place',
    async ({ place, index }) => {
      const strings = NAUGHTY.filter((_, at) => IS_LONG_FORM || (at + index) % EVERY[kind] === 0);
      const values = [AWKWARD, PROTO, ...EXTREMES, ...strings, ...jsonFor(1000 + index, SHORT[kind])].filter(() =>
        FIELDS.test(place),
      );
      const waiting = values.values();
      const faults: string[] = [];
      const from = performance.now();
      const lane = async (): Promise<void> => {
        for (const value of waiting) {
          const found = await fault(world, place, value);
          if (found !== undefined) faults.push(found);
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
      const ms = Math.round(performance.now() - from);
      report(`asked back: ${place}: ${values.length} sent, ${faults.length} faults, ${ms} ms`);
      expect(faults.slice(0, 5)).toEqual([]);
      // No value caused an internal error.
      expect(world.jackdaw.log).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'is returned unchanged in a message unless it is blank',
    async () => {
      const strings = NAUGHTY.filter((_, at) => IS_LONG_FORM || at % EVERY[kind] === 0);
      for (const value of strings) {
        const { status, body } = await world.chat(value);
        const id = String(body['session_id']);
        const messages = status === 200 ? (await world.get(`/api/sessions/${id}/messages`)).body['messages'] : [];
        const [said] = messages as unknown as { content: string }[];
        expect([status, said?.content]).toEqual(value.trim() === '' ? [400, undefined] : [200, value]);
      }
    },
    TIMEOUT_MS,
  );
});
