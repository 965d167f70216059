import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { callTool } from './support/direct-calls.js';
import { newFolder } from './support/jackdaw.js';
import { buildIfStale, ServerProcess } from './support/process.js';

describe('an error of a tool that no code handles', () => {
  const folder = newFolder();
  let server: ServerProcess;
  beforeAll(async () => {
    buildIfStale();
    server = ServerProcess.start('test/support/stray-errors.mjs', { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'error' });
    await server.waitForLine('ready ');
  });
  afterAll(async () => {
    await server.kill('SIGTERM');
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['rejects', 'Unhandled promise rejection'],
    ['rejectsLater', 'Unhandled promise rejection'],
    ['throwsInTimer', 'Uncaught exception'],
  ])('is logged with the name of the tool, and the server continues: %s', async (tool, what) => {
    const before = server.lines.length;
    const { body } = await callTool(server, tool);
    expect(body).toMatchObject({ success: true, result: 'returned' });
    await server.waitForLine('{');
    const logged = () => server.lines.slice(before).map((line) => JSON.parse(line) as Record<string, unknown>);
    while (logged().length === 0) await server.get('/api/health/live');
    expect(logged()).toMatchObject([
      {
        level: 50,
        tool,
        run_id: body['run_id'],
        msg: `${what} in tool "${tool}"; the server continues`,
        err: { message: 'nothing awaits this', stack: expect.stringContaining('stray-errors.mjs') },
      },
    ]);
    expect((await server.get('/api/health/live')).status).toBe(200);
  });
});
