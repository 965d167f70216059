import { describe, expect, it } from 'vitest';
import { parseLogRules } from './server.config.js';

describe('LOG_LEVEL', () => {
  it.each([
    ['debug', { level: 'debug', contexts: {} }],
    ['warn, RunExecutor=debug,Http=silent', { level: 'warn', contexts: { RunExecutor: 'debug', Http: 'silent' } }],
    ['RunExecutor=trace', { level: 'info', contexts: { RunExecutor: 'trace' } }],
  ])('has a level, and levels of contexts: %s', (text, rules) => {
    expect(parseLogRules(text)).toEqual(rules);
  });

  it.each(['loud', 'Http=loud', 'info,debug', 'Http=info,Http=debug', '=debug', 'info,', ''])(
    'refuses "%s"',
    (text) => {
      expect(parseLogRules(text)).toBeUndefined();
    },
  );
});
