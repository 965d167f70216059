import { afterAll, beforeAll, expect, it } from 'vitest';
import { HostileWorld } from '../support/hostile-world.js';
import { extremesFor, FIELDS, hostileServers, jsonFor, naughtyFor, report } from '../support/hostile-values.js';
import { fieldsOf, type RouteField } from '../support/route-fields.js';
import { shown, strike } from '../support/route-strike.js';
import { describeDatabases } from '../support/test-databases.js';
import { IS_LONG_FORM } from '../support/long-form.js';

/** Short form: number of naughty strings, of random JSON values and of extremes per field, by database. */
const SHORT = { sqlite: [2, 2, 2], postgres: [0, 0, 2], mariadb: [0, 0, 1] } as const;
/** Number of concurrent values of one field. */
const AT_ONCE = IS_LONG_FORM ? 16 : 2;
const TIMEOUT_MS = IS_LONG_FORM ? 14_400_000 : 900_000;

async function expectAlive(world: HostileWorld): Promise<void> {
  expect((await world.chat('still there?')).body['result']).toBe('fine');
  // No value caused an internal error. Open applications of other files of this worker share the logger; their folders are gone.
  const lines = world.jackdaw.log.filter((line) => !JSON.stringify(line).includes('was removed or replaced'));
  expect(lines).toEqual([]);
}

/** Sort key: routes that delete go first, routes that create data last. */
function weight({ route }: RouteField): number {
  if (route.startsWith('DELETE')) return 0;
  return route.startsWith('POST') ? 2 : 1;
}

describeDatabases('every field of every route', await hostileServers(), (database, kind) => {
  const [naughty, json, extremes] = SHORT[kind];
  let world: HostileWorld;
  beforeAll(async () => {
    world = await HostileWorld.start(database());
  });
  afterAll(() => world.stop());

  it(
    'accepts naughty strings and any JSON, or refuses them as a client error',
    async () => {
      const fields = fieldsOf(await world.document(), world.samples()).toSorted((a, b) => weight(a) - weight(b));
      const names = fields.map(({ route, name }) => `${route} ${name}`);
      // The list of fields contains these known fields.
      expect(names).toEqual(
        expect.arrayContaining([
          'POST /api/agent/chat body.query',
          'POST /api/agent/chat body.images.0.url',
          'POST /api/agent/chat body.parameters.seed',
          'GET /api/runs/{id} path.id',
          'GET /api/runs/{id}/events header.last-event-id',
          'GET /api/runs query.cursor',
          'POST /api/agent/chat header.idempotency-key',
          'POST /api/runs/{id}/fork body.edit.model.name',
          'POST /api/sessions/import body.session.turns.0.messages.0.content',
          'POST /api/tools/calculator/call body.arguments.expression',
          'PUT /api/sessions/{id}/metadata body.metadata',
        ]),
      );
      const faults: string[] = [];
      for (const [index, field] of fields.entries()) {
        if (!FIELDS.test(names[index]!)) continue;
        const from = performance.now();
        const struck = await strike(
          world,
          field,
          [...extremesFor(index, extremes), ...naughtyFor(index, naughty), ...jsonFor(index, json)],
          AT_ONCE,
        );
        faults.push(...shown(struck));
        shown(struck).forEach(report);
        const { sent, taken } = struck;
        const ms = Math.round(performance.now() - from);
        report(
          `${index + 1}/${fields.length} ${names[index]}: ${sent} sent, ${taken} taken, ${struck.faults.length} faults, ${ms} ms`,
        );
      }
      expect(faults).toEqual([]);
      await expectAlive(world);
    },
    TIMEOUT_MS,
  );
});
