import { describe, it } from 'vitest';
import { RUN_QUEUE_WAIT_MS } from './process.js';
import { testRedisUrl, testServers, type TestDatabase } from './test-databases.js';
import { IS_LONG_FORM } from './long-form.js';

/** A database, and optionally a Redis, that several processes share. */
export interface ClusterStore {
  readonly name: string;
  readonly answers: boolean;
  /** Creates an empty store. @returns the variables that select it */
  open(): Promise<Record<string, string>>;
  close(): Promise<void>;
}

type Define = (store: ClusterStore) => void;

/** For tests whose requests must be served however busy the machine is. */
export const PATIENCE = { RUN_QUEUE_WAIT_MS, DATABASE_TIMEOUT_MS: '60000' };

/** Every store that a cluster supports. */
export async function clusterStores(): Promise<readonly ClusterStore[]> {
  const servers = await testServers();
  const redis = await testRedisUrl();
  return (['postgres', 'postgres with redis', 'mariadb with redis'] as const).map((name) => {
    const [kind, hasRedis] = name.split(' with ');
    const server = servers.find((one) => one.kind === kind)!;
    let database: TestDatabase;
    return {
      name,
      answers: server.answers && (!hasRedis || redis !== null),
      open: async () => {
        database = await server.create();
        return { DATABASE_URL: database.url, ...(hasRedis && { REDIS_URL: redis! }) };
      },
      close: () => database.drop(),
    };
  });
}

/**
 * Runs the tests on one of the stores, by the length of the title, so that each store has its share of the files; on all of
 * them in `npm run test:clusters`.
 */
export function describeClusters(title: string, stores: readonly ClusterStore[], define: Define): void {
  const at = title.length % Math.max(stores.length, 1);
  describeEachCluster(title, IS_LONG_FORM ? stores : stores.slice(at, at + 1), define);
}

/** Runs the same tests on each store; a store without reachable servers is skipped by name, and fails in CI. */
export function describeEachCluster(title: string, stores: readonly ClusterStore[], define: Define): void {
  for (const store of stores) {
    const isLeftOut = !store.answers && !process.env['CI'];
    (isLeftOut ? describe.skip : describe)(`${title} on ${store.name}`, () => {
      if (store.answers) return define(store);
      it('has servers to be tested on', () => expectServers(store));
    });
  }
}

function expectServers({ name }: ClusterStore): void {
  throw new Error(`No ${name} answers: start them, or say where they are (TEST_POSTGRES_URL, …).`);
}
