import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { loadConfig } from '../src/config/index.js';
import { README_BEGIN, README_END, renderConfigTable, renderEnvExample, tableCells } from './support/config-docs.js';

describe('the variables in the documents', () => {
  it('are those of the schema in the README', () => {
    const readme = readFileSync('README.md', 'utf8');
    const section = readme.slice(readme.indexOf(README_BEGIN) + README_BEGIN.length, readme.indexOf(README_END));
    expect(tableCells(section)).toEqual(tableCells(renderConfigTable()));
  });

  it('are those of the schema in config/.env.example', () => {
    expect(readFileSync('config/.env.example', 'utf8')).toBe(renderEnvExample());
  });

  it('can all be omitted, and all be uncommented unchanged in config/.env.example', () => {
    const uncommented = readFileSync('config/.env.example', 'utf8').replaceAll(/^#(?=[A-Z_]+=)/gm, '');
    const { config } = loadConfig({ env: {} });
    // `agentFiles` contains the variables that were set, so the comparison ignores it.
    const given = loadConfig({ env: {}, envFile: uncommented }).config.with({ agentFiles: config.agentFiles });
    expect(given).toEqual(config);
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
    const connections = readFileSync('src/tool/rest/connection/connection-options.spec.ts', 'utf8');
    const named = rows.map((row) => row.at(-2)!).filter((test) => test !== 'the same');
    const isThere = (test: string) => {
      const title = test.slice(1, -1);
      if (title.endsWith('.spec.ts')) return existsSync(title);
      return title.split('…').every((part) => connections.includes(part.trim()));
    };
    expect(named.filter((test) => !isThere(test))).toEqual([]);
  });
});
