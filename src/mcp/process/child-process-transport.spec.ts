import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChildLedger } from './child-ledger.store.js';
import { ChildProcessTransport } from './child-process-transport.js';

describe('the transport to a program', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'transport-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it.each(['/no/such/program', process.execPath])(
    'that is closed while %s starts leaves no entry in the ledger',
    async (command) => {
      const transport = new ChildProcessTransport(
        { kind: 'stdio', command, args: [], env: {} },
        { ledger: new ChildLedger(folder), maxMessageBytes: 1000, baseEnv: {} },
      );
      const starting = transport.start().catch(() => undefined);
      await transport.close();
      expect(readdirSync(join(folder, 'mcp-children'))).toEqual([]);
      await starting;
    },
  );

  it('leaves no listener at the exit of the process', async () => {
    const before = [process.listenerCount('exit'), process.getMaxListeners()];
    const ledgers = [new ChildLedger(folder), new ChildLedger(folder)];
    const transports = ledgers.map(
      (ledger) =>
        new ChildProcessTransport(
          { kind: 'stdio', command: process.execPath, args: ['-e', 'process.stdin.resume()'], env: {} },
          { ledger, maxMessageBytes: 1000, baseEnv: {} },
        ),
    );
    for (const transport of transports) await transport.start();
    expect(process.listenerCount('exit')).toBe(before[0]! + 1);
    for (const transport of transports) await transport.close();
    expect([process.listenerCount('exit'), process.getMaxListeners()]).toEqual(before);
  });
});
