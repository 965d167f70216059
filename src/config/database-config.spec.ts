import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.loader.js';

describe('the database configuration', () => {
  it.each([
    [{}, { RUN_RETENTION_FAILED_DAYS: '90' }, []],
    [{ RUN_RETENTION_DAYS: '7' }, { RUN_RETENTION_DAYS: '7', RUN_RETENTION_FAILED_DAYS: '7' }, []],
    [{}, { RUN_RETENTION_FAILED_DAYS: '91' }, ['RUN_RETENTION_FAILED_DAYS']],
    [{ SESSION_STORE: 'redis' }, { SESSION_STORE: 'redis://host' }, []],
    [{ SESSION_STORE: 'redis' }, { SESSION_STORE: 'redis://other' }, ['SESSION_STORE']],
    [{}, { SESSION_STORE: 'database' }, []],
  ])('compares effective settings of applications that share a database: %j and %j', (one, other, different) => {
    const [first, second] = [one, other].map(
      (env) => loadConfig({ env: { REDIS_URL: 'redis://host', ...env } }).config.database.sharedSettings,
    );
    const names = Object.keys(first!);
    expect(names.filter((name) => JSON.stringify(first![name]) !== JSON.stringify(second![name]))).toEqual(different);
  });
});
