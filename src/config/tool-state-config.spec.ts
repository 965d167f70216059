import { describe, expect, it } from 'vitest';
import { loadConfig, type EnvRecord } from './config.loader.js';

const SHARED = { DATABASE_URL: 'postgres://u@h/d' };

const stateOf = (env: EnvRecord) => loadConfig({ env }).config.toolState;

describe('the tool state configuration', () => {
  it('uses memory by default, with the defaults of the table in docs/tool-state.md', () => {
    expect(stateOf({})).toEqual({
      manager: 'memory',
      ttlMs: null,
      cleanupIntervalMs: 300_000,
      format: 'json',
      path: 'data/tool-states',
      isCompressed: false,
      redis: { prefix: 'tool_state' },
      maxPerSession: 10,
      sessionTimeoutMs: 3_600_000,
      maxBytes: 1_048_576,
      maxHistory: 1000,
      maxVersions: 10,
      conflict: 'last_write_wins',
      isSavedAlone: true,
      sync: { isOnChange: true, intervalMs: 60_000 },
      backup: null,
    });
  });

  it.each([
    [{ DATABASE_URL: 'postgres://u@h/d' }, { manager: 'distributed' }],
    [{ TOOL_STATE_FORMAT: 'sqlite' }, { path: null }],
    [{ TOOL_STATE_FORMAT: 'sqlite', DATABASE_URL: 'mysql://u@h/d' }, { path: 'data/tool-states' }],
    [
      { TOOL_STATE_FORMAT: 'json', TOOL_STATE_MAX_PER_SESSION: '10', DATABASE_URL: 'postgres://u@h/d' },
      { format: 'json' },
    ],
    [{ TOOL_STATE_FORMAT: 'sqlite', TOOL_STATE_PATH: './mine' }, { path: './mine' }],
    [{ TOOL_STATE_CLEANUP: 'false' }, { cleanupIntervalMs: null }],
    [{ TOOL_STATE_MAX_BYTES: '4194304' }, { maxBytes: 4_194_304 }],
    [{ TOOL_STATE_BACKUP: 'true' }, { backup: { intervalMs: 3_600_000, keptDays: 7 } }],
    [
      { TOOL_STATE_REDIS_DB: '3', TOOL_STATE_REDIS_URL: 'redis://h' },
      { redis: { prefix: 'tool_state', db: 3, url: 'redis://h' } },
    ],
  ])('follows %j', (env, expected) => {
    expect(stateOf(env)).toMatchObject(expected);
  });

  it.each([
    [
      { TOOL_STATE_CLEANUP: 'false', TOOL_STATE_CLEANUP_INTERVAL_MS: '500' },
      /has no effect without TOOL_STATE_CLEANUP/,
    ],
    [{ TOOL_STATE_BACKUP_INTERVAL_MS: '5000' }, /has no effect without TOOL_STATE_BACKUP=true/],
    [{ TOOL_STATE_BACKUP_RETENTION_DAYS: '2' }, /has no effect without TOOL_STATE_BACKUP=true/],
    [{ TOOL_STATE_REDIS_PREFIX: 'mine' }, /has no effect without TOOL_STATE_REDIS_URL/],
    [{ TOOL_STATE_MAX_BYTES: '4194305' }, /TOOL_STATE_MAX_BYTES.*give an integer from 2 to 4194304 \(bytes\)/],
    [{ TOOL_STATE_MANAGER: 'memory', DATABASE_URL: 'postgres://u@h/d' }, /TOOL_STATE_MANAGER.*serves one process only/],
    [{ TOOL_STATE_FORMAT: 'sqlite', ...SHARED }, /TOOL_STATE_FORMAT.*has no effect where processes share DATABASE_URL/],
    [{ TOOL_STATE_PATH: './mine', ...SHARED }, /TOOL_STATE_PATH.*has no effect where processes share/],
    [{ TOOL_STATE_MAX_PER_SESSION: '3', ...SHARED }, /TOOL_STATE_MAX_PER_SESSION.*has no effect where/],
    [{ TOOL_STATE_SESSION_TIMEOUT_MS: '500', ...SHARED }, /TOOL_STATE_SESSION_TIMEOUT_MS.*has no effect where/],
    [{ TOOL_STATE_SYNC_ON_CHANGE: 'false', ...SHARED }, /TOOL_STATE_SYNC_ON_CHANGE.*without TOOL_STATE_REDIS_URL/],
    [{ TOOL_STATE_SYNC_INTERVAL_MS: '500', ...SHARED }, /TOOL_STATE_SYNC_INTERVAL_MS.*without TOOL_STATE_REDIS_URL/],
  ])('refuses %j, which has no effect or is unsafe', (env, message) => {
    expect(() => stateOf(env)).toThrow(message);
  });

  it('refuses pickle with the reason', () => {
    expect(() => stateOf({ TOOL_STATE_FORMAT: 'pickle' })).toThrow(/executes any code in it; give json or sqlite/);
  });
});
