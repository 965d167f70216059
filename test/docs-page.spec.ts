import { afterAll, beforeAll, expect, it } from 'vitest';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describeBrowser } from './support/browser.js';
import { PATIENCE_MS } from './support/patience.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const PREFIX = '/team/agents';

let jackdaw: Jackdaw;
let proxy: Server;
beforeAll(async () => {
  jackdaw = await startJackdaw({ env: { DOCS_ENABLED: 'true' } });
  proxy = await startProxy(jackdaw.url);
});
afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await jackdaw.stop();
});

/** A proxy that removes the prefix of each path. */
async function startProxy(target: string): Promise<Server> {
  const server = createServer((incoming, reply) => {
    const { method, headers, url = '' } = incoming;
    if (!url.startsWith(`${PREFIX}/`)) return void reply.writeHead(404).end();
    const outgoing = request(`${target}${url.slice(PREFIX.length)}`, { method, headers }, (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
    });
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Opens the form of an operation, sends its example, and returns the status and the body that the page shows. */
async function execute(page: Page, path: string): Promise<readonly string[]> {
  const operation = page.locator('.opblock', { has: page.locator(`[data-path="${path}"]`) }).first();
  await operation.locator('.opblock-summary-control').click();
  await operation.getByRole('button', { name: 'Try it out' }).click();
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table .response').first();
  const status = await answer.locator('.response-col_status').innerText();
  return [status.trim(), await answer.locator('.response-col_description').innerText()];
}

describeBrowser('/docs', (browser) => {
  it('sends the example of a chat and shows its answer', async () => {
    const page = await browser().newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('requestfailed', (failed) => faults.push(failed.url()));
    await page.goto(`${jackdaw.url}/docs`);
    const [status, body] = await execute(page, '/api/agent/chat');
    expect(status).toBe('200');
    expect(body).toContain('"result": "300"');
    expect(faults).toEqual([]);
    await page.close();
  });

  it('is reached from the start page and works below the path prefix of a proxy', async () => {
    const { port } = proxy.address() as AddressInfo;
    const page = await browser().newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`http://127.0.0.1:${port}${PREFIX}/`);
    await page.getByRole('link', { name: 'All routes' }).click();
    const [status, body] = await execute(page, '/api/tools/calculator/call');
    expect(status).toBe('200');
    expect(body).toContain('300');
    await page.close();
  });
});
