import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { AgentHost } from './support/agent-host.js';

const LOCKED =
  /^\[?(AppError: )?The database .+ belongs to another running Jackdaw\. .+ its own DATA_DIR, or set JACKDAW_DATABASE_URL to/;

describe('a script on the database of another process', () => {
  const host = new AgentHost();
  const env = host.environment();
  beforeAll(() => host.start({ config: env }));
  afterAll(() => host.stop());

  /** Lines of the script's output. */
  function lines(...args: string[]): string[] {
    const script = ['test/support/locked-script.mjs', env.DATA_DIR, ...args];
    const { stdout, stderr } = spawnSync(process.execPath, script, { encoding: 'utf8', timeout: 300_000 });
    return `${stdout}${stderr}`.split('\n').filter((line) => line.trim() !== '');
  }

  it('prints one line, if it prints the message of the error', () => {
    expect(lines('caught')).toEqual([expect.stringMatching(LOCKED)]);
  });

  it.each([[[]], [['call']]])('prints the message once and no stack, if it does not catch the error: %j', (args) => {
    const printed = lines(...args).filter((line) => !line.includes('WARN'));
    expect(printed.filter((line) => LOCKED.test(line))).toHaveLength(1);
    expect(printed.filter((line) => /^\s+at /.test(line))).toEqual([]);
    expect(printed.filter((line) => line.includes('[Nest]'))).toEqual([]);
  });
});

describe('a script whose agent cannot start', () => {
  const host = new AgentHost();
  afterAll(() => host.stop());

  it('prints the mistakes only, and no errors of providers that were not created', () => {
    const folder = host.environment().DATA_DIR;
    const script = ['test/support/locked-script.mjs', folder, 'policy'];
    const { stdout, stderr } = spawnSync(process.execPath, script, { encoding: 'utf8', timeout: 300_000 });
    // Without the warning about a slow disk.
    const printed = `${stdout}${stderr}`.split('\n').filter((line) => line !== '' && !line.includes('durable'));
    expect(printed).toEqual([
      'The security policy securityPolicy has a mistake:',
      '  the policy: Unrecognized key: "allow"',
    ]);
  });
});
