import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConsoleLogger, Logger, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type CreateAgentOptions, JackdawModule } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';

const host = new AgentHost();

class Shared extends Logger {
  static get current(): LoggerService | undefined {
    return Logger.staticInstanceRef;
  }
}

const before = Shared.current;
afterEach(async () => {
  await host.stop();
  Logger.overrideLogger(before!);
});

const REGISTERED = 'Registered tool: calculator';

/** A logger that stores the lines of Jackdaw about one tool. */
class Lines extends ConsoleLogger {
  readonly lines: unknown[] = [];

  override log(...line: unknown[]): void {
    if (line[0] === REGISTERED) this.lines.push('log');
  }

  override warn(): void {}
}

const builtinTools: NonNullable<CreateAgentOptions['builtinTools']> = ['calculator'];

describe('the log of an agent', () => {
  it("leaves Nest's logger, which all applications of a process share, in place", async () => {
    const agents = [
      await host.start({}),
      await host.start({ logger: new Lines() }),
      await host.start({ logger: false as unknown as LoggerService }),
    ];
    agents[0]!.setLogger(new Lines());
    await expect(host.start({ builtinTools: ['nothing' as 'calculator'] })).rejects.toMatchObject({ name: 'AppError' });
    expect(Shared.current).toBe(before);
    for (const agent of agents) await agent.close();
    expect(Shared.current).toBe(before);
  });

  it('receives the lines of Jackdaw until the agent is closed; then another open agent does', async () => {
    const [first, second] = [new Lines(), new Lines()];
    await host.start({ logger: first });
    const agent = await host.start({ logger: second });
    await host.start({ builtinTools });
    expect([first.lines, second.lines]).toEqual([[], ['log']]);
    await agent.close();
    await host.start({ builtinTools });
    expect([first.lines, second.lines]).toEqual([['log'], ['log']]);
  });

  it('is that of the host application for an agent without a logger', async () => {
    const ofHost = new Lines();
    Logger.overrideLogger(ofHost);
    await host.start({ builtinTools });
    expect(ofHost.lines).toEqual(['log']);
  });

  it('leaves the lines of a host with Jackdaw on the default console', async () => {
    await host.start({});
    // Nest creates a console for each context while its own logger is in place.
    const print = vi.spyOn(ConsoleLogger.prototype, 'log').mockImplementation(() => undefined);
    const registered = () => print.mock.calls.filter(([line]) => line === REGISTERED).length;
    try {
      await host.start({ builtinTools });
      expect(registered()).toBe(0);
      const jackdaw = JackdawModule.forRoot({ config: host.environment(), builtinTools });
      const app = await NestFactory.createApplicationContext(jackdaw, { abortOnError: false });
      expect(registered()).toBe(1);
      await app.close();
      await host.start({ builtinTools });
      expect(registered()).toBe(1);
    } finally {
      print.mockRestore();
    }
  });
});
