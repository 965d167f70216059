import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

const pathOf = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Files of half a minute and more, the longest first. */
const LONG =
  'faults/locked-file cli-local chaos/chaos server-copies traces-crash console stored-user-text database-owner copies quick-close provider-outage run-files-databases package workers upgrade hostile/mcp-memory crash cluster cluster-deploy model-faults hostile/rest poison mcp-orphans'
    .split(' ')
    .map((name) => pathOf(`test/${name}.spec.ts`));

/** Files that assume a process without applications: one that fails at its start, as in other files, never leaves `AgentLog`. */
const ALONE = ['test/agent-log.spec.ts'];

function groupOf({ moduleId, project }) {
  // Between two files of a worker, a file that runs alone ends that worker.
  if (project.name === 'alone') return -1;
  const place = LONG.indexOf(moduleId);
  return place === -1 ? LONG.length + Number(moduleId.startsWith(pathOf('src/'))) : place;
}

/** A fixed order, in which no worker has a long file left when the others have none: long files first, those of src/ last. */
class LongestFirst extends BaseSequencer {
  async sort(files) {
    return files.toSorted((a, b) => groupOf(a) - groupOf(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

/** Each worker loads the modules of the application once, for all of its files: docs/decisions/0063. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^jackdaw$/, replacement: pathOf('src/index.ts') },
      { find: /^jackdaw\/testing$/, replacement: pathOf('src/testing-entry.ts') },
      { find: /^jackdaw\/tool$/, replacement: pathOf('src/tool-entry.ts') },
      { find: /^jackdaw\/client$/, replacement: pathOf('src/http-client/index.ts') },
    ],
  },
  test: {
    projects: [
      { extends: true, test: { name: 'shared', include: ['src/**/*.spec.ts', 'test/**/*.spec.ts'], exclude: ALONE } },
      { extends: true, test: { name: 'alone', include: ALONE, isolate: true } },
    ],
    // Their own npm scripts run them: some have installations of their own, `test:portability` is long.
    exclude: [
      '**/node_modules/**',
      'test/clients/**',
      'test/environments/host/**',
      ...(process.env.INTEGRATIONS ? [] : ['test/integrations/**']),
      ...(process.env.PORTABILITY ? [] : ['test/portability/**']),
      ...(process.env.ENVIRONMENTS ? [] : ['test/environments/**']),
      ...(process.env.DEPLOY ? [] : ['test/deploy/**']),
      ...(process.env.LONG_FORM ? [] : ['test/hosts/**']),
      ...(process.env.UPGRADE_FROM ? [] : ['test/upgrade-side-by-side.spec.ts']),
    ],
    setupFiles: ['test/support/fresh-process.ts'],
    pool: 'forks',
    isolate: false,
    // For two cores: half of the time of a worker is waiting for disks, databases, child processes and timers.
    maxWorkers: 4,
    // Ends a test that hangs, and judges no speed: whole-application tests start processes, which takes long on a busy machine.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    disableConsoleIntercept: true,
    // Hooks run in the order of their definition, also those after a test.
    sequence: { hooks: 'list', sequencer: LongestFirst },
  },
});
