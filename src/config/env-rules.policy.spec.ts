import { describe, expect, it } from '@jest/globals';
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
});
