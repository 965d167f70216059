import { describe, expect, it } from 'vitest';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { configVariables, loadConfig } from '../src/config/index.js';

type Render = (namespaces: ReturnType<typeof configVariables>) => string;

/** The script that writes both documents. */
const { renderExample, renderPage, unpadded } = (await import(resolve('scripts/configuration-docs.mjs'))) as {
  readonly renderPage: Render;
  readonly renderExample: Render;
  readonly unpadded: (text: string) => string;
};

describe('the documents of the variables (npm run docs:configuration)', () => {
  it('docs/configuration.md has a table of every namespace', () => {
    expect(unpadded(readFileSync('docs/configuration.md', 'utf8'))).toBe(unpadded(renderPage(configVariables())));
  });

  it('config/.env.example has every variable', () => {
    expect(readFileSync('config/.env.example', 'utf8')).toBe(renderExample(configVariables()));
  });

  it('every variable has a description', () => {
    const variables = configVariables().flatMap((one) => one.variables);
    expect(variables.filter(({ description }) => description === '')).toEqual([]);
  });

  it('config/.env.example changes nothing when all its lines are uncommented', () => {
    const uncommented = readFileSync('config/.env.example', 'utf8').replaceAll(/^#(?=[A-Z_]+=)/gm, '');
    const { config } = loadConfig({ env: {} });
    const given = loadConfig({ env: {}, envFile: uncommented }).config;
    // `definitionFiles` contains the variables that were set, so the comparison ignores it.
    expect({ ...given, definitionFiles: config.definitionFiles }).toEqual(config);
  });
});

/** Option names of other systems with stateful tools: of managers, of business states, of connections. */
const STATE_OPTIONS = [
  'manager_type ttl auto_cleanup cleanup_interval persistence_path persistence_format compression redis_url redis_prefix redis_db',
  'session_isolation max_states_per_session session_timeout',
  'max_history_size max_state_size state_compression versioning max_versions auto_save sync_interval sync_on_change',
  'conflict_resolution backup_enabled backup_interval backup_retention',
  'pool_size max_overflow pool_timeout pool_recycle timeout read_timeout write_timeout connect_timeout keep_alive',
  'keep_alive_timeout keep_alive_interval retry_attempts retry_delay retry_backoff retry_jitter',
].flatMap((names) => names.split(' '));

describe('the tables of options in docs/tool-state.md', () => {
  const document = readFileSync('docs/tool-state.md', 'utf8');
  const rows = document
    .slice(document.indexOf('## Options'))
    .split('\n')
    .filter((line) => /^\| `[a-z_]+` +\|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()));

  it('have each option once', () => {
    expect(rows.map(([, name]) => name!.replaceAll('`', '')).toSorted()).toEqual(STATE_OPTIONS.toSorted());
  });

  it('name existing tests', () => {
    const connections = readFileSync('src/rest-tool/connection/connection-options.spec.ts', 'utf8');
    const named = rows.map((row) => row.at(-2)!).filter((test) => test !== 'the same');
    const isThere = (test: string) => {
      const title = test.slice(1, -1);
      if (title.endsWith('.spec.ts')) return existsSync(title);
      return title.split('…').every((part) => connections.includes(part.trim()));
    };
    expect(named.filter((test) => !isThere(test))).toEqual([]);
  });
});
