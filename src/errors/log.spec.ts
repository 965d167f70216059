import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConsoleLogger, Logger } from '@nestjs/common';
import { AppError } from './app.error.js';
import { Log } from './log.js';

/** Lines of Nest's console, without colours, process id and time. */
class Lines extends ConsoleLogger {
  readonly lines: string[] = [];

  constructor() {
    super({ colors: false, logLevels: ['log', 'warn', 'error', 'debug'] });
  }

  protected override printMessages(messages: unknown[], ...rest: unknown[]): void {
    const [context, level, , stack, params] = rest;
    this.lines.push(
      [level, context, ...messages, params ? JSON.stringify(params) : '', stack ? 'stack' : ''].join('|'),
    );
  }

  protected override printStackTrace(): void {}
}

describe('Log', () => {
  afterEach(() => Logger.overrideLogger(new ConsoleLogger()));

  describe('on the console of Nest', () => {
    let console: Lines;
    beforeEach(() => Logger.overrideLogger((console = new Lines())));

    it('prints the message before the fields', () => {
      const log = new Log('Runs');
      log.log({ run_id: 'r1' }, 'Run ended');
      log.debug({ run_id: 'r1' }, 'Run ended');
      log.warn('Plain');
      expect(console.lines).toEqual([
        'log|Runs|Run ended|{"run_id":"r1"}|',
        'debug|Runs|Run ended|{"run_id":"r1"}|',
        'warn|Runs|Plain||',
      ]);
    });

    it('prints an error as its message, without its properties, and a stack only if it is unexpected', () => {
      const log = new Log('Runs');
      const broken = Object.assign(new Error('broken'), { headers: { authorization: 'secret' } });
      log.error({ err: broken, run_id: 'r1' }, 'Run failed');
      log.error({ err: new AppError('NOT_FOUND', 'none') }, 'Run failed');
      log.warn({ err: broken }, 'Run failed');
      expect(console.lines).toEqual([
        'error|Runs|Run failed: broken|{"run_id":"r1"}|stack',
        'error|Runs|Run failed: none||',
        'warn|Runs|Run failed: broken||',
      ]);
    });
  });

  it('passes fields and message to a logger of the application unchanged', () => {
    const own = { log: vi.fn(), warn: vi.fn(), error: vi.fn() };
    Logger.overrideLogger(own);
    const err = new Error('broken');
    new Log('Runs').error({ err }, 'Run failed');
    expect(own.error.mock.calls).toEqual([[{ err }, 'Run failed', 'Runs']]);
  });
});
