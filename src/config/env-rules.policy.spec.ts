import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.loader.js';

describe('rules between variables', () => {
  it('refuses droppable parameters if all parameters are droppable', () => {
    const env = { LLM_QUIRKS: 'drop:seed', LLM_UNSUPPORTED_PARAMETERS: 'drop' };
    expect(() => loadConfig({ env })).toThrow(
      'LLM_QUIRKS: "drop:seed" has no effect with LLM_UNSUPPORTED_PARAMETERS=drop, which permits every parameter: leave one of them out',
    );
    expect(loadConfig({ env: { ...env, LLM_UNSUPPORTED_PARAMETERS: 'refuse' } }).config.llm.droppable).toEqual([
      'seed',
    ]);
  });

  it.each([
    [{ LLM_CACHE_TTL_SECONDS: '60' }, 'LLM_CACHE_TTL_SECONDS: "60" has no effect without LLM_CACHE'],
    [{ LLM_CACHE_MAX_BYTES: '200000', LLM_CACHE: 'redis', REDIS_URL: 'redis://h' }, 'without LLM_CACHE=memory'],
    [{ LLM_QUEUE_LIMIT: '5' }, 'has no effect without LLM_CONCURRENCY'],
    [{ BUDGET_REPLY_TOKENS: '5' }, 'has no effect without a budget'],
    [{ AGENT_MEMORY_KEEP_FIRST: '5' }, 'has no effect without AGENT_MEMORY_POLICY=fixed_window'],
    [{ MCP_MAX_SESSIONS: '5', MCP_SERVER: 'off' }, 'has no effect with MCP_SERVER=off'],
  ])('refuses %j, of which a part has no effect', (env, message) => {
    expect(() => loadConfig({ env })).toThrow(message);
  });

  it.each([
    { LLM_CACHE_TTL_SECONDS: '60', LLM_CACHE: 'memory' },
    { LLM_QUEUE_LIMIT: '5', LLM_CONCURRENCY: '2' },
    { LLM_QUEUE_LIMIT: '1000' },
    { BUDGET_REPLY_TOKENS: '5', BUDGET_RUN: 'tokens=9' },
    { AGENT_MEMORY_KEEP_FIRST: '5', AGENT_MEMORY_POLICY: 'fixed_window' },
    { AGENT_MEMORY_KEEP_FIRST: '5', AGENT_MEMORY_POLICY: 'my-own' },
    { ACCESS_LOG: 'on', ACCESS_LOG_RETENTION_DAYS: '5' },
    { TOOL_STATE_PATH: './states', TOOL_STATE_MANAGER: 'persistent' },
    { REDIS_URL: 'redis://h', SESSION_STORE: 'redis' },
    { REDIS_URL: 'redis://h', DATABASE_URL: 'mariadb://u@h/d', CLUSTER_LEASE_MS: '5000' },
  ])('accepts %j silently', (env) => {
    expect(loadConfig({ env }).warnings).toEqual([]);
  });

  it.each([
    [{ ACCESS_LOG_RETENTION_DAYS: '5' }, 'ACCESS_LOG_RETENTION_DAYS only deletes old entries: ACCESS_LOG=on writes'],
    [{ TOOL_STATE_PATH: './states' }, 'TOOL_STATE_PATH only applies to tools that choose the manager persistent'],
    [
      { TOOL_STATE_MAX_PER_SESSION: '5' },
      'TOOL_STATE_MAX_PER_SESSION only applies to tools that choose the manager session',
    ],
    [{ TOOL_STATE_REDIS_URL: 'redis://h' }, 'TOOL_STATE_REDIS_URL only applies to tools that choose'],
    [{ LLM_BREAKER_RESET_MS: '5', LLM_BREAKER_FAILURES: '0' }, 'LLM_BREAKER_RESET_MS does nothing'],
    [{ LLM_RETRY_DELAY_MS: '5', LLM_MAX_ATTEMPTS: '1' }, 'LLM_RETRY_DELAY_MS does nothing'],
    [{ CLUSTER_LEASE_MS: '5000' }, 'CLUSTER_LEASE_MS does nothing, as this process owns its database'],
    [{ REDIS_URL: 'redis://h' }, 'REDIS_URL stores nothing beside SQLite'],
  ])('warns of %j', (env, message) => {
    expect(loadConfig({ env }).warnings).toEqual([expect.stringContaining(message)]);
  });

  describe('SHUTDOWN_GRACE_MS', () => {
    const graceOf = (env: Record<string, string>) => loadConfig({ env }).config.server.shutdownGraceMs;
    const KEYS = { API_KEYS: `ann:acme:user:${'a'.repeat(64)}` };

    it('is 3 s with API keys or in a cluster by default, at most SHUTDOWN_TIMEOUT_MS, and otherwise 0', () => {
      expect(graceOf({})).toBe(0);
      expect(graceOf(KEYS)).toBe(3000);
      expect(graceOf({ ...KEYS, SHUTDOWN_TIMEOUT_MS: '1000' })).toBe(1000);
      expect(graceOf({ ...KEYS, SHUTDOWN_GRACE_MS: '0' })).toBe(0);
      expect(graceOf({ DATABASE_URL: 'postgres://u@h/d' })).toBe(3000);
      expect(graceOf({ DATABASE_URL: 'mariadb://u@h/d' })).toBe(0);
      expect(graceOf({ SHUTDOWN_GRACE_MS: '500' })).toBe(500);
      expect(loadConfig({ env: {}, hasAuthenticator: true }).config.server.shutdownGraceMs).toBe(3000);
    });

    it('is refused beyond SHUTDOWN_TIMEOUT_MS, and in a host application, whose listener is its own', () => {
      expect(() => graceOf({ SHUTDOWN_GRACE_MS: '8001' })).toThrow(
        'SHUTDOWN_GRACE_MS: "8001" is a part of SHUTDOWN_TIMEOUT_MS, which is 8000: give at most that',
      );
      const host = (ms: string) => loadConfig({ env: { JACKDAW_SHUTDOWN_GRACE_MS: ms }, isHost: true });
      expect(() => host('500')).toThrow('JACKDAW_SHUTDOWN_GRACE_MS: "500" has no effect');
      expect(() => host('0')).not.toThrow();
    });
  });

  it('HEALTH_HOST needs HEALTH_PORT, which only a server has', () => {
    const server = (env: Record<string, string>, isHost = false) => loadConfig({ env, isHost }).config.server;
    expect(() => server({ HEALTH_HOST: '0.0.0.0' })).toThrow(
      'HEALTH_HOST: "0.0.0.0" has no effect without HEALTH_PORT',
    );
    expect(() => server({ JACKDAW_HEALTH_PORT: '9465' }, true)).toThrow(
      'JACKDAW_HEALTH_PORT: "9465" has no effect, as only a server has a port of its own',
    );
    expect(server({ HOST: 'localhost', HEALTH_PORT: '9465' })).toMatchObject({
      healthPort: 9465,
      healthHost: 'localhost',
    });
  });

  describe('WORKERS', () => {
    const POSTGRES = { DATABASE_URL: 'postgres://u@h/d' };
    const load =
      (env: Record<string, string>, isHost = false) =>
      () =>
        loadConfig({ env, isHost });

    it.each(['2', 'auto'])('needs a database that processes can share: %s', (WORKERS) => {
      expect(load({ WORKERS })).toThrow(
        `WORKERS: "${WORKERS}" needs a database that several processes can share: set DATABASE_URL`,
      );
      expect(load({ WORKERS, DATABASE_URL: 'mariadb://u@h/d' })).toThrow(`WORKERS: "${WORKERS}" needs REDIS_URL`);
      expect(load({ WORKERS, DATABASE_URL: 'mariadb://u@h/d', REDIS_URL: 'redis://h' })).not.toThrow();
      expect(load({ WORKERS, ...POSTGRES })).not.toThrow();
    });

    it('has no effect in a host application', () => {
      expect(load({ JACKDAW_WORKERS: '2', JACKDAW_DATABASE_URL: POSTGRES.DATABASE_URL }, true)).toThrow(
        'JACKDAW_WORKERS: "2" has no effect, as the process belongs to the application',
      );
      expect(load({ WORKERS: '2' }, true)).not.toThrow();
    });

    it('is one process by default', () => {
      expect(loadConfig({ env: {} }).config.server.workers).toBe(1);
      expect(load({ WORKERS: '1' })).not.toThrow();
    });
  });

  describe('METRICS_PORT and METRICS_HOST', () => {
    const metrics = (env: Record<string, string>, isHost = false) => loadConfig({ env, isHost }).config.telemetry;

    it('have an effect with METRICS=on only, the host with the port only', () => {
      expect(() => metrics({ METRICS: 'off', METRICS_PORT: '9464' })).toThrow(
        'METRICS_PORT: "9464" has no effect, as METRICS is off',
      );
      expect(() => metrics({ METRICS_HOST: '0.0.0.0' })).toThrow(
        'METRICS_HOST: "0.0.0.0" has no effect without METRICS_PORT',
      );
      expect(metrics({ HOST: 'localhost', METRICS_PORT: '9464' })).toEqual({
        hasMetrics: true,
        metricsPort: 9464,
        metricsHost: 'localhost',
      });
    });

    it('are the only way to the metrics of a host application', () => {
      expect(metrics({}, true).hasMetrics).toBe(false);
      expect(metrics({ JACKDAW_METRICS_PORT: '9464' }, true).hasMetrics).toBe(true);
    });
  });
});
