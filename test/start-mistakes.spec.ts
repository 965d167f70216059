import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { DataSource } from 'typeorm';
import { serve, toListenFailure } from '../src/server/bootstrap.js';
import { loadConfig, type EnvRecord } from '../src/config/index.js';
import { Tool } from '../src/tool/method/index.js';
import { newFolder } from './support/jackdaw.js';

class Twice {
  @Tool({ name: 'calculator', description: 'There is one already.', effect: 'read' })
  again(): string {
    return '';
  }
}

@Injectable()
class Host {
  constructor(@Optional() @Inject(DataSource) readonly dataSource?: DataSource) {}
}

describe('a start that goes wrong', () => {
  let busy: Server;
  let port: string;
  let folder: string;
  beforeAll(async () => {
    folder = newFolder();
    busy = createServer().listen(0, '127.0.0.1');
    await once(busy, 'listening');
    port = String((busy.address() as AddressInfo).port);
  });
  afterEach(expectFreeFolder);
  afterAll(() => {
    busy.close();
    rmSync(folder, { recursive: true });
  });

  const start = (env: EnvRecord, tools: readonly (typeof Twice | typeof Host)[] = []) =>
    serve({
      config: loadConfig({ env: { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent', LLM_PROVIDER: 'offline', ...env } })
        .config,
      tools,
    });

  /** The next start finds the database unlocked. */
  async function expectFreeFolder(): Promise<void> {
    const app = await start({});
    await app.close();
  }

  it('names an occupied port and the remedy', async () => {
    await expect(start({ PORT: port })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `The server cannot listen on port ${port} of 127.0.0.1: the port is in use; stop the other program, or set another PORT (0 selects a free port).`,
    });
  });

  it.each([
    [{ SESSION_STORE: 'file' }, 'sessions'],
    [{ TOOL_STATE_MANAGER: 'persistent' }, 'tool-states'],
    [{ TOOL_STATE_BACKUP: 'true' }, 'backups'],
  ])('names the folder that %j cannot use', async (env, name) => {
    const path = join(folder, name);
    writeFileSync(path, 'a file');
    try {
      await expect(start(env)).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: `The folder ${path} cannot be used: a part of its path is a file and must be a folder: move that away, or set another DATA_DIR.`,
      });
    } finally {
      rmSync(path);
    }
  });

  it('leaves the database unlocked after a duplicate tool name', async () => {
    await expect(start({}, [Twice])).rejects.toMatchObject({ code: 'TOOL_DUPLICATE' });
  });

  it.each([
    ['EACCES', /permission denied; set a PORT of 1024 or higher/],
    ['EADDRNOTAVAIL', /not an address of this machine; set another HOST/],
  ])('gives the reason for %s', (code, message) => {
    const error = toListenFailure(Object.assign(new Error('listen'), { code }), { port: 80, host: '10.0.0.1' });
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) });
    const other = new Error('bug');
    expect(toListenFailure(other, { port: 80, host: '10.0.0.1' })).toBe(other);
  });
});

describe('an application around Jackdaw', () => {
  it('does not receive our data source when it declares its own', async () => {
    const folder = newFolder();
    const { config } = loadConfig({
      env: { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent', LLM_PROVIDER: 'offline' },
    });
    const app = await serve({ config, tools: [Host] });
    expect(app.get(Host, { strict: false }).dataSource).toBeUndefined();
    await app.close();
    rmSync(folder, { recursive: true });
  });
});
