import { afterEach, describe, expect, it } from 'vitest';
import type { LoggerService } from '@nestjs/common';
import {
  type Measured,
  Telemetry,
  type ToolCallMeasured,
  type UsageMeasured,
  type ModelCallMeasured,
} from '../src/index.js';
import { serve } from '../src/server/bootstrap.js';
import { AgentHost } from './support/agent-host.js';
import { newFolder } from './support/jackdaw.js';
import { calls, says } from './support/scripted-chat-model.js';

const host = new AgentHost();
afterEach(() => host.stop());

type Line = readonly [level: string, message: string, fields: Record<string, unknown>];

/** A logger that stores its lines. */
class Lines implements LoggerService {
  readonly all: Line[] = [];
  log(...line: unknown[]) {
    this.add('log', line);
  }
  warn(...line: unknown[]) {
    this.add('warn', line);
  }
  error(...line: unknown[]) {
    this.add('error', line);
  }
  debug(...line: unknown[]) {
    this.add('debug', line);
  }
  /** The lines about runs. */
  get ofRuns(): Line[] {
    return this.all.filter(([, , fields]) => fields['run_id'] !== undefined && fields['agent'] !== undefined);
  }
  private add(level: string, [first, message, context]: unknown[]): void {
    if (context === 'Run' || context === 'Http')
      this.all.push([level, String(message), first as Record<string, unknown>]);
  }
}

class Measurements extends Telemetry {
  readonly iterations: Measured[] = [];
  readonly models: ModelCallMeasured[] = [];
  readonly tools: ToolCallMeasured[] = [];
  readonly usages: UsageMeasured[] = [];
  override recordIteration(one: Measured) {
    this.iterations.push(one);
  }
  override recordModelCall(one: ModelCallMeasured) {
    this.models.push(one);
  }
  override recordToolCall(one: ToolCallMeasured) {
    this.tools.push(one);
  }
  override recordUsage(one: UsageMeasured) {
    this.usages.push(one);
  }
}

const login = {
  name: 'login',
  description: 'Logs in.',
  parameters: { type: 'object', properties: { user: { type: 'string' }, password: { type: 'string' } } },
  handler: ({ user }: { user: string }) => {
    if (user === 'eve') throw new Error('eve is refused');
    return 'ok';
  },
} as const;

const failing = calls(['login', { user: 'eve', password: 'hunter-2222' }]);

describe('the log of runs', () => {
  it('has each model call and tool call at debug level, and failures with masked arguments and duration', async () => {
    const logger = new Lines();
    const agent = await host.start({ logger }, [
      calls(['login', { user: 'ann', password: 'hunter-1111' }]),
      failing,
      calls(['log_in', {}]),
      says('Done.'),
    ]);
    agent.registerTool(login);
    const { runId } = await agent.chat('Log in.');
    await agent.close();
    const lines = logger.ofRuns.map(([level, message, { tool, code }]) => [level, message, tool ?? null, code ?? null]);
    expect(lines).toEqual([
      ['debug', 'Run started', null, null],
      ['debug', 'Model call completed', null, null],
      ['debug', 'Tool call started', 'login', null],
      ['debug', 'Tool call completed', 'login', null],
      ['debug', 'Model call completed', null, null],
      ['debug', 'Tool call started', 'login', null],
      ['warn', 'Tool call failed', 'login', 'TOOL_FAILED'],
      ['debug', 'Model call completed', null, null],
      ['debug', 'Tool call started', 'log_in', null],
      ['warn', 'Tool call failed', 'log_in', 'TOOL_NOT_FOUND'],
      ['debug', 'Model call completed', null, null],
      ['debug', 'Run completed', null, null],
    ]);
    const [, , failure] = logger.ofRuns.find(([level]) => level === 'warn')!;
    expect(failure).toMatchObject({
      run_id: runId,
      agent: 'default',
      iteration: 2,
      duration_ms: expect.any(Number),
      arguments: '{"user":"eve","password":"[redacted]"}',
      error: expect.stringContaining('eve is refused'),
    });
    expect(JSON.stringify(logger.all)).not.toContain('hunter');
  });

  it('has denied and rate-limited calls', async () => {
    const logger = new Lines();
    const securityPolicy = {
      tools: [{ deny: ['login'] }],
      rateLimits: [{ per: 'session', tools: ['ping'], calls: 1, windowSeconds: 60 }],
    } as const;
    const agent = await host.start({ logger, securityPolicy }, [
      calls(['login', { user: 'ann' }], ['ping', {}], ['ping', {}]),
      says('Done.'),
    ]);
    agent.registerTool(login).registerTool({ name: 'ping', description: 'Pings.', handler: () => 'pong' });
    await agent.chat('Go.');
    await agent.close();
    const failed = logger.ofRuns
      .filter(([level]) => level === 'warn')
      .map(([, , { tool, code, arguments: given }]) => [tool, code, given]);
    expect(failed).toEqual(
      expect.arrayContaining([
        ['login', 'TOOL_DENIED', '{"user":"ann"}'],
        ['ping', 'TOOL_RATE_LIMITED', '{}'],
      ]),
    );
  });

  it('goes to the logger that setLogger names last', async () => {
    const [first, second] = [new Lines(), new Lines()];
    const agent = await host.start({ logger: first }, [says('One.'), says('Two.')]);
    await agent.chat('One?');
    agent.setLogger(second);
    await agent.chat('Two?');
    await agent.close();
    expect([first.ofRuns.length, second.ofRuns.length]).toEqual([3, 3]);
  });
});

describe('the telemetry of runs', () => {
  it('has iterations, model calls, tool calls and usage, with times and durations', async () => {
    const telemetry = new Measurements();
    const from = Date.now();
    const agent = await host.start({ telemetry }, [failing, says('Done.')]);
    agent.registerTool(login);
    const { runId } = await agent.chat('Log in.');
    await agent.close();
    expect(telemetry.iterations.map(({ iteration }) => iteration)).toEqual([1, 2]);
    expect(telemetry.models).toMatchObject([
      { runId, iteration: 1, durationMs: expect.any(Number), finishReason: 'tool_calls' },
      { runId, iteration: 2, durationMs: expect.any(Number), finishReason: 'stop' },
    ]);
    expect(telemetry.tools).toMatchObject([
      { runId, tool: 'login', isSuccess: false, code: 'TOOL_FAILED', durationMs: expect.any(Number) },
    ]);
    expect(telemetry.usages).toHaveLength(2);
    for (const { at } of [...telemetry.models, ...telemetry.tools, ...telemetry.usages]) {
      expect(at).toBeGreaterThanOrEqual(from);
      expect(at).toBeLessThanOrEqual(Date.now());
    }
  });

  it('goes to the receiver that setTelemetry names last, which may have some of the methods', async () => {
    const first = new Measurements();
    const agent = await host.start({ telemetry: first }, [says('One.'), says('Two.')]);
    await agent.chat('One?');
    const iterations: number[] = [];
    agent.setTelemetry({ recordIteration: ({ iteration }) => iterations.push(iteration) });
    await agent.chat('Two?');
    await agent.close();
    expect([first.iterations.length, iterations]).toEqual([1, [1]]);
  });
});

describe('a server with a logger and telemetry of its own', () => {
  it('reports to them, and not to standard output', async () => {
    const [logger, telemetry] = [new Lines(), new Measurements()];
    const config = { PORT: '0', DATA_DIR: newFolder(), LLM_PROVIDER: 'offline', API_KEYS: '' };
    const app = await serve({ config, logger, telemetry });
    try {
      const reply = await fetch(`${await app.getUrl()}/api/agent/chat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"1 + 1"}',
      });
      expect(reply.status).toBe(200);
    } finally {
      await app.close();
    }
    expect(telemetry.tools).toMatchObject([{ tool: 'calculator', isSuccess: true }]);
    expect(logger.all.map(([, message]) => message)).toEqual(
      expect.arrayContaining(['Tool call completed', 'request completed']),
    );
  });
});
