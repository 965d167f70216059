import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { InstalledHost } from '../support/installed-host.js';
import type { Ended } from '../support/packed-consumer.js';
import type { ServerProcess } from '../support/process.js';
import { describeDatabases, type TestDatabase, testServers } from '../support/test-databases.js';

const INSTALLATION_MS = 600_000;
const onPostgres = (await testServers()).filter(({ kind }) => kind === 'postgres');

/** Requests to the routes of the application, in order: later ones read results of earlier ones. */
const REQUESTS: Readonly<Record<string, readonly [line: string, body?: string, hasToken?: false]>> = {
  'a list': ['GET /books'],
  'a list without a token': ['GET /books', undefined, false],
  'a query': ['GET /books?words=austen'],
  'a query with an unknown parameter': ['GET /books?words=austen&order=title'],
  'a book': ['GET /books/2'],
  'an invalid number': ['GET /books/two'],
  'an unknown book': ['GET /books/99'],
  'an unknown route': ['GET /authors'],
  HEAD: ['HEAD /books/1'],
  OPTIONS: ['OPTIONS /books'],
  'another method': ['DELETE /books/1'],
  'a loan': ['POST /books/1/loan', '{"note":"for a week"}'],
  'a loan without a body': ['POST /books/2/loan'],
  'an unknown field': ['POST /books/1/loan', '{"weeks":2}'],
  'an invalid body': ['POST /books/1/loan', '{"note":'],
  'a wrong password': ['POST /login', '{"name":"ann","password":"bob"}', false],
  'the list after the loans': ['GET /books?words='],
};

/** The application of examples/host with the packed package and an installation of its own. */
describeDatabases('the lending library', onPostgres, (database) => {
  let host: InstalledHost;
  let installed: Ended;
  let before: TestDatabase;
  let without: Running;
  let running: Running;

  beforeAll(async () => {
    host = await InstalledHost.create('examples/host');
    installed = await host.install('npm', 'install');
    if (installed.code !== 0) throw new Error(installed.output);
    const built = await host.run('npm', ['run', 'build']);
    if (built.code !== 0) throw new Error(built.output);
    before = await onPostgres[0]!.create();
    without = await Running.start(host, before, { ASSISTANT: 'off' });
    running = await Running.start(host, database());
  }, INSTALLATION_MS);
  afterAll(async () => {
    await Promise.all([without, running].map((one) => one.server.kill()));
    await before.drop();
    host.remove();
  });

  it('installs without a flag, a conflict or a second copy of Nest', () => {
    expect(installed.output).not.toMatch(/ERESOLVE|peer|EBADENGINE/);
    expect(['@nestjs/common', '@nestjs/core'].map((name) => host.copiesOf(name).length)).toEqual([1, 1]);
  });

  it.each(Object.entries(REQUESTS))('answers as without Jackdaw, byte for byte: %s', async (_title, request) => {
    const answer = await without.bytesOf(...request);
    expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /);
    expect(await running.bytesOf(...request)).toBe(answer);
  });

  it('asks the agent in a route of its own, and the tool changes its database', async () => {
    const answer = await running.post('/questions', { question: 'call borrow_book {"bookId":3}' });
    expect(answer).toEqual([200, { data: expect.objectContaining({ status: 'completed' }) }]);
    const [, { data }] = await running.ask('/books/3');
    expect(data).toEqual({ id: 3, title: 'Walden', author: 'H. D. Thoreau', lentTo: 'ann' });
  });

  it('serves the REST API behind its guard, without its envelope', async () => {
    const query = { query: 'call find_books {"words":"Emma"}' };
    expect(await running.post('/assistant/agent/chat', query)).toEqual([
      200,
      expect.objectContaining({ result: expect.stringContaining('Jane Austen'), finish_reason: 'stop' }),
    ]);
    expect(await running.post('/assistant/agent/chat', query, '')).toEqual([
      401,
      { error: { status: 401, message: 'Send the token of POST /login.' } },
    ]);
  });

  it('streams a run to a browser, in its own route and in that of the REST API', async () => {
    const [status, body] = await running.post('/questions/background', {
      question: 'call find_books {"words":"Walden"}',
    });
    const { runId } = body['data'] as { runId: string };
    expect(status).toBe(202);
    for (const path of [`/questions/${runId}/events`, `/assistant/runs/${runId}/events`]) {
      const stream = await running.fetch(path, { headers: { accept: 'text/event-stream' } });
      const events = [...(await stream.text()).matchAll(/^event: (\S+)$/gm)].map(([, name]) => name);
      expect([events[0], events.at(-1)]).toEqual(['run.started', 'run.completed']);
      expect(events).toContain('tool.completed');
    }
  });

  it('serves its tools to an MCP client', async () => {
    const client = new McpClient({ name: 'reader', version: '1.0.0' });
    const requestInit = { headers: { authorization: running.authorization } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${running.url}/mcp`), { requestInit }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['find_books', 'borrow_book', 'ask_librarian']);
    const found = await client.callTool({ name: 'find_books', arguments: { words: 'Emma' } });
    expect(JSON.stringify(found)).toContain('Jane Austen');
    await client.close();
  });

  it('passes its own suite, which ends by itself', async () => {
    const { code, output } = await host.run('npm', ['test'], { DATABASE_URL: database().url });
    expect([code, output]).toEqual([0, expect.stringMatching(/Tests: +3 passed, 3 total/)]);
    expect(output).not.toMatch(/did not exit|open handle|Force exiting/);
  });

  it('stops as without Jackdaw', async () => {
    const ended = await Promise.all([without, running].map(({ server }) => server.kill('SIGTERM')));
    expect(ended[1]).toEqual(ended[0]);
    expect([without, running].map(({ server }) => server.stderr)).toEqual(['', '']);
  });

  it('reverts its migration with the tables of Jackdaw in the database', async () => {
    const tables = await tablesOf(database(), 'jackdaw');
    expect(tables.length).toBeGreaterThan(20);
    const { code, output } = await host.run('npm', ['run', 'migration:revert'], { DATABASE_URL: database().url });
    expect([code, output]).toEqual([0, expect.stringContaining('AddIsbn1790000000002 has been reverted successfully')]);
    expect(await tablesOf(database(), 'jackdaw')).toEqual(tables);
    expect(await tablesOf(database(), 'public')).toEqual(await tablesOf(before, 'public'));
  });
});

/** A started application, and a reader who has logged in. */
class Running {
  private constructor(
    readonly server: ServerProcess,
    readonly url: string,
    readonly authorization: string,
  ) {}

  static async start(host: InstalledHost, { url: databaseUrl }: TestDatabase, env = {}): Promise<Running> {
    const [server, url] = await host.start('dist/main.js', { DATABASE_URL: databaseUrl, ...env });
    const headers = { 'content-type': 'application/json' };
    const login = await fetch(`${url}/login`, { method: 'POST', headers, body: '{"name":"ann","password":"ann"}' });
    const { data } = (await login.json()) as { data: { token: string } };
    return new Running(server, url, `Bearer ${data.token}`);
  }

  /** The whole response, without the value of `Date`. */
  async bytesOf(line: string, body = '', hasToken = true): Promise<string> {
    const { hostname, port } = new URL(this.url);
    const socket = connect(Number(port), hostname);
    const head = [
      `${line} HTTP/1.1`,
      'Host: library',
      'Connection: close',
      ...(hasToken ? [`Authorization: ${this.authorization}`] : []),
      ...(body ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []),
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
    return (await text(socket)).replace(/^(Date: ).*/m, '$1');
  }

  fetch(path: string, { headers = {}, ...init }: { headers?: object; method?: string; body?: string } = {}) {
    return fetch(`${this.url}${path}`, { ...init, headers: { authorization: this.authorization, ...headers } });
  }

  async ask(path: string, init?: Parameters<Running['fetch']>[1]): Promise<[number, Record<string, unknown>]> {
    const response = await this.fetch(path, init);
    return [response.status, (await response.json()) as Record<string, unknown>];
  }

  post(path: string, body: object, authorization = this.authorization) {
    const headers = { authorization, 'content-type': 'application/json' };
    return this.ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
  }
}

/** Names of the tables of a schema. */
async function tablesOf({ url }: TestDatabase, schema: string): Promise<readonly string[]> {
  const client = new Client(url);
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1 ORDER BY 1',
    [schema],
  );
  await client.end();
  return rows.map(({ name }) => name);
}
