import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent } from '../src/client/agent.builder.js';
import { serve } from '../src/server/bootstrap.js';
import { loadConfig, type EnvRecord } from '../src/config/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WebServer } from './support/web-server.js';

const CANARY = 'canary-0123456789-abc';

describe('REST tools of an application', () => {
  let llm: FakeLlm;
  let web: WebServer;
  let folder: string;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    web = await WebServer.start();
    folder = newFolder();
    mkdirSync(join(folder, 'api'));
    writeFileSync(join(folder, 'api', 'stock.json'), JSON.stringify(stockDocument()));
  });
  beforeEach(() => {
    llm.reset();
    web.reset();
  });
  afterAll(async () => {
    await llm.close();
    await web.close();
    rmSync(folder, { recursive: true });
  });

  const stockDocument = () => ({
    openapi: '3.1.0',
    info: { title: 'Stock', version: '1' },
    servers: [{ url: `${web.url}/stock` }],
    security: [{ bearer: [] }],
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths: {
      '/{thing}': {
        get: {
          operationId: 'stock',
          summary: 'Says how many of a thing there are.',
          parameters: [{ name: 'thing', in: 'path', required: true, schema: { type: 'string' } }],
        },
      },
    },
  });

  function writeTools(content: unknown, name = 'rest-tools.json'): string {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  const env = (): EnvRecord => ({
    OUTGOING_ALLOW: `127.0.0.1:${web.port}`,
    TOOL_SECRETS: 'SHOP_TOKEN',
    SHOP_TOKEN: CANARY,
  });

  describe('REST tools in files', () => {
    let jackdaw: Jackdaw;
    beforeAll(async () => {
      const path = writeTools({
        tools: [
          {
            name: 'order',
            description: 'Orders a thing.',
            method: 'POST',
            url: `${web.url}/orders/{thing}`,
            parameters: {
              type: 'object',
              properties: { thing: { type: 'string' }, count: { type: 'integer', default: 1 } },
              required: ['thing'],
            },
            auth: { type: 'bearer', token: 'SHOP_TOKEN' },
            // The shop's results are trusted: the next order requires no approval after reading them.
            untrusted: false,
            result: '/order',
          },
        ],
        openapi: [
          {
            document: 'api/stock.json',
            operations: [{ operationId: 'stock', untrusted: false }],
            secrets: { bearer: 'SHOP_TOKEN' },
          },
        ],
      });
      jackdaw = await startJackdaw({ llm, env: { ...env(), REST_TOOLS: path, LOG_LEVEL: 'trace' } });
    });
    afterAll(() => jackdaw.stop());

    it('are called by an agent, and secrets appear only in their requests', async () => {
      web.on('/stock/nails', (request, reply) => {
        reply
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ left: 7, received: request.headers }));
      });
      web.on('/orders/nails', (request, reply, count) => {
        const text = JSON.stringify({ order: { id: 17, received: request.headers.authorization } });
        reply.writeHead(count === 1 ? 201 : 500, { 'content-type': 'application/json' }).end(text);
      });
      llm
        .reply({ calls: [{ name: 'stock', arguments: { thing: 'nails' } }] })
        .reply({ calls: [{ name: 'order', arguments: { thing: 'nails', count: 3 } }] })
        .reply({ calls: [{ name: 'order', arguments: { thing: 'nails' } }] })
        .reply({ text: 'Ordered.' });
      const { body } = await jackdaw.chat({ query: 'Order nails.', includeDetails: true });
      expect(body).toMatchObject({
        result: 'Ordered.',
        tool_results: [
          { tool: 'stock', success: true, result: { left: 7 } },
          { tool: 'order', success: true, result: { id: 17, received: 'Bearer [redacted]' } },
          { tool: 'order', success: false, error: expect.stringContaining('answered 500 Internal Server Error') },
        ],
      });
      expect(web.requests).toMatchObject([
        { method: 'GET', path: '/stock/nails', headers: { authorization: `Bearer ${CANARY}` } },
        { method: 'POST', path: '/orders/nails', body: '{"count":3}', headers: { authorization: `Bearer ${CANARY}` } },
        { method: 'POST', path: '/orders/nails', body: '{"count":1}' },
      ]);
      const runId = String(body['run_id']);
      const journal = await jackdaw.get(`/api/runs/${runId}/journal`);
      const shown = [body, journal.text, await jackdaw.events(runId), llm.requests, jackdaw.log];
      expect(journal.text).toContain('[redacted]');
      expect(JSON.stringify(shown)).not.toContain(CANARY);
    });

    it('show the model a line with headers, and leave the value unchanged', async () => {
      web.on('/stock/screws', (_request, reply) => {
        reply.writeHead(200, { 'content-type': 'application/json', etag: '"3"' }).end('{"left":7}');
      });
      llm.reply({ calls: [{ name: 'stock', arguments: { thing: 'screws' } }] }).reply({ text: 'Seven.' });
      const { body } = await jackdaw.chat({ query: 'Screws?', includeDetails: true });
      expect(body).toMatchObject({ tool_results: [{ result: { left: 7 } }] });
      const { messages } = llm.requests.at(-1)!;
      expect(messages.at(-1)).toMatchObject({ role: 'tool', content: '[etag: "3"]\n{"left":7}' });
      const events = await jackdaw.events(String(body['run_id']));
      expect(events.find(({ event }) => event === 'tool.completed')?.data).not.toHaveProperty('note');
    });

    it('are closed with their run', async () => {
      const closed = new Promise((resolve) => web.on('/stock/slow', (_request, reply) => reply.on('close', resolve)));
      llm.reply({ calls: [{ name: 'stock', arguments: { thing: 'slow' } }] });
      const { body } = await jackdaw.post('/api/agent/runs', { query: 'slow?' });
      await web.waitForRequests(1);
      const runId = String(body['run_id']);
      await jackdaw.post(`/api/runs/${runId}/cancel`);
      const events = await jackdaw.events(runId);
      expect(events.at(-1)).toMatchObject({ event: 'run.cancelled' });
      await closed;
    });
  });

  it('can also be declared in code, without a server', async () => {
    web.json('/time', { now: 'noon' });
    llm.reply({ calls: [{ name: 'time', arguments: {} }] }).reply({ text: 'Noon.' });
    const agent = await createAgent({
      config: { ...llm.env, ...env(), DATA_DIR: join(folder, 'agent') },
      restTools: [
        { name: 'time', description: 'Returns the time.', url: `${web.url}/time` },
        { document: stockDocument(), operations: ['stock'], secrets: { bearer: 'SHOP_TOKEN' } },
      ],
    });
    expect((await agent.chat('What time is it?')).content).toBe('Noon.');
    expect(llm.requests[0]?.tools?.map((tool) => tool.function.name)).toEqual(['time', 'stock']);
    await agent.close();
  });

  const start = (files: string) =>
    serve({
      config: loadConfig({ env: { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'silent', REST_TOOLS: files } }).config,
    });

  it('stop the start when they are wrong, and the error names all mistakes with file and position', async () => {
    const broken = writeTools('{"tools": [', 'broken.json');
    const wrong = writeTools(
      {
        tools: [
          { name: 'a', url: 'x' },
          { name: 'b', description: 'B.', url: 'x' },
        ],
        openapi: [{}],
      },
      'wrong.json',
    );
    const odd = writeTools({ tool: [] }, 'odd.json');
    const missing = join(folder, 'missing.json');
    const refusal: unknown = await start([broken, wrong, odd, missing].join(',')).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'TOOL_INVALID' });
    const { message } = refusal as Error;
    for (const part of [
      '6 REST tools are invalid:',
      `${broken} of REST_TOOLS is not JSON`,
      `${wrong}: tools[0] "a": its description`,
      `${wrong}: tools[1] "b": its url is not https://host/path`,
      `${wrong}: openapi[0]: its document`,
      `${odd}: unrecognized key: "tool"`,
      `${missing} of REST_TOOLS cannot be read`,
    ]) {
      expect(message).toContain(part);
    }
  });

  it('work as in the example in config/', async () => {
    const app = await start('config/rest-tools.json');
    expect(app.get(ToolRegistry, { strict: false }).get('weather_now').metadata).toMatchObject({ effect: 'read' });
    await app.close();
  });
});
