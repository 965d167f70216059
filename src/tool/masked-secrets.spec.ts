import { afterEach, describe, expect, it } from 'vitest';
import { Logger, type LoggerService } from '@nestjs/common';
import { toolExecutor } from '../../test/support/tool-parts.js';
import { callSite } from '../../test/support/call-site.js';
import { MemoryCache } from '../cache/index.js';
import { ConfiguredSecrets } from '../config/index.js';
import { ToolRegistry } from './tool.registry.js';
import type { ToolRegistration } from './tool-registration.types.js';

const SECRET = 'crm-credential-1';
const secrets = new ConfiguredSecrets([SECRET]);
const executor = toolExecutor({ secrets });
const failure = () => new Error(`cannot use ${SECRET}`);
const fail = () => {
  throw failure();
};

function toolWith(registration: Partial<ToolRegistration>) {
  const registry = new ToolRegistry(new MemoryCache(60_000, 10_000), undefined, secrets);
  registry.register({ name: 'crm', description: 'Reads.', handler: () => 1, ...registration });
  return { registry, tool: registry.get('crm') };
}

/** The warnings in the log. */
function recorded(): string[] {
  const lines: string[] = [];
  const ignore = () => undefined;
  const logger: LoggerService = { log: ignore, error: ignore, warn: (line: string) => lines.push(line) };
  Logger.overrideLogger(logger);
  return lines;
}
afterEach(() => Logger.overrideLogger(false));

describe('a configured secret in an error', () => {
  it.each([{}, { cacheTtlMs: 1000, effect: 'read' as const }])('is masked in a result: %j', async (options) => {
    const { tool } = toolWith({ handler: () => ({ errors: [failure()] }), ...options });
    expect(await executor.invoke({ tool, input: {} }, callSite())).toMatchObject({
      result: { success: true, result: { errors: ['cannot use [redacted]'] } },
    });
  });

  it('is masked in the error of a direct call', async () => {
    await expect(toolWith({ handler: fail }).registry.call('crm')).rejects.toThrow(/failed: cannot use \[redacted\]$/);
  });

  it('is masked in the failure that a reconcile reports', async () => {
    const { tool } = toolWith({ reconcile: () => ({ outcome: 'failed', error: `no ${SECRET}` }) });
    expect(await executor.reconcile(tool, callSite())).toMatchObject({ result: { error: 'no [redacted]' } });
  });

  it('is masked in the warning about a failing reconcile', async () => {
    const lines = recorded();
    await executor.reconcile(toolWith({ reconcile: fail }).tool, callSite());
    expect(lines).toEqual([expect.stringMatching(/returned no outcome: cannot use \[redacted\]$/)]);
  });

  it('is masked in the warning about a failing resources function', async () => {
    const lines = recorded();
    const { tool } = toolWith({ resources: fail });
    await executor.resources(tool, { name: 'crm', arguments: '{}' });
    expect(lines).toEqual([expect.stringMatching(/threw: cannot use \[redacted\]$/)]);
  });
});
