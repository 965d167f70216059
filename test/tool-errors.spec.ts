import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Injectable } from '@nestjs/common';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { Tool, ToolRegistry } from '../src/index.js';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const READ = { description: 'x', effect: 'read' } as const;
const ring: Record<string, unknown> = { id: 7 };
ring['self'] = ring;
const round = new Error('round');
round.cause = round;
const wordless = Object.assign(new Error(), { code: 'E_GONE' });
const nested = new Error('outer', { cause: new Error('inner', { cause: { message: 'innermost' } }) });
const secretive = new Error('connect postgres://app:hunter2@db/x with Bearer abcdef123456', {
  cause: new Error('?api_key=k-123456&x=1 and top-secret-value'),
});

/** Text with the first half of a value before its 1,000th character. */
const around = (value: string) => `${' '.padEnd(993, 'a ')}${value} and more`;

const throws = (thrown: unknown) => () => {
  throw thrown;
};

/** Failing tools, and the error text. */
const FAILING: Readonly<Record<string, readonly [() => unknown, RegExp]>> = {
  object: [throws({ code: 'E_QUOTA', message: 'the quota is used up' }), /^the quota is used up \(E_QUOTA\)$/],
  plainObject: [throws({ status: 5, list: [1n] }), /^\{"status":5,"list":\["1"\]\}$/],
  nestedError: [throws({ error: { message: 'inner' } }), /^inner$/],
  namedError: [throws({ error: 'no_such_thing' }), /^no_such_thing$/],
  emptyObject: [throws({}), /object of the class Object was thrown/],
  ringThrown: [throws(ring), /circular/],
  bare: [throws(Object.create(null)), /was thrown/],
  nothingThrown: [throws(undefined), /^undefined was thrown/],
  emptyText: [throws(''), /empty text was thrown/],
  text: [throws('plain text'), /^plain text$/],
  symbol: [throws(Symbol('odd')), /^Symbol\(odd\) was thrown/],
  promise: [throws(Promise.resolve(1)), /promise was thrown/],
  response: [throws(new Response('x', { status: 503, statusText: 'Busy' })), /^HTTP 503 Busy$/],
  aggregate: [
    throws(new AggregateError([new Error('first is down'), 'second is down'])),
    /^AggregateError: first is down; second is down$/,
  ],
  wordlessError: [throws(new RangeError()), /^RangeError$/],
  wordlessCode: [throws(wordless), /^Error \(E_GONE\)$/],
  caused: [throws(nested), /^outer: inner: innermost$/],
  ringOfCauses: [throws(round), /^round$/],
  secrets: [
    throws(secretive),
    /^connect postgres:\/\/\[redacted\]@db\/x with Bearer \[redacted\]: \?api_key=\[redacted\]&x=1 and \[redacted\]$/,
  ],
  absentFile: [() => readFile('/srv/shop/keys/my key.pem'), /^ENOENT: no such file or directory, open '\[path\]'$/],
  fetching: [() => fetch(closed), /^fetch failed: .*ECONNREFUSED/],
  notOk: [() => fetch(`${web}/missing`), /^HTTP 404 Not Found: no such page$/],
  cutKey: [() => new Response(around('sk-0123456789abcdef'), { status: 500 }), /^HTTP 500: [ a]+\[redac\w*…$/],
  cutSecret: [() => new Response(around('top-secret-value'), { status: 500 }), /^HTTP 500: [ a]+\[redac\w*…$/],
  cutJson: [throws({ text: around('top-secret-value').slice(9) }), /^\{"text":"[ a]+\[redac\w*…$/],
  readTwice: [() => readResponse(), /body it had already read/],
  functionItself: [() => () => 1, /it is a function/],
  brokenGetter: [() => ({ toJSON: throws(new Error('this code fails')) }), /this code fails/],
  brokenGenerator: [() => [1].values().map(throws(new Error('after none'))), /after none/],
};

let web: string;
/** A URL at which nothing listens. */
let closed: string;
let server: Server;
let jackdaw: Jackdaw;

async function readResponse(): Promise<Response> {
  const response = new Response('x');
  await response.text();
  return response;
}

@Injectable()
class Deep {
  @Tool(READ)
  async deep(): Promise<string> {
    await setTimeout(1);
    return String(inner());
  }
}

function inner(): never {
  throw new Error('from deep inside');
}

async function listening(answer: RequestListener): Promise<[Server, string]> {
  const started = createServer(answer).listen(0, '127.0.0.1');
  await once(started, 'listening');
  return [started, `http://127.0.0.1:${(started.address() as AddressInfo).port}`];
}

beforeAll(async () => {
  const [other, free] = await listening(() => undefined);
  other.close();
  closed = free;
  [server, web] = await listening((_request, reply) => void reply.writeHead(404).end('no such page'));
  jackdaw = await startJackdaw({
    tools: [new Deep()],
    env: { LOG_LEVEL: 'warn', TOOL_SECRETS: 'CRM_TOKEN', CRM_TOKEN: 'top-secret-value' },
  });
  for (const [name, [handler]] of Object.entries(FAILING))
    jackdaw.app.get(ToolRegistry).register({ name, handler, ...READ });
});
afterAll(async () => {
  await jackdaw.stop();
  server.close();
});

describe('a failing call', () => {
  it.each(Object.keys(FAILING))('has a readable error: %s', async (name) => {
    const { body } = await callTool(jackdaw, name);
    expect(body).toMatchObject({
      success: false,
      code: 'TOOL_FAILED',
      error: expect.stringMatching(FAILING[name]![1]),
    });
  });
});

describe('the error of a failing call', () => {
  it('has the paths of its arguments and below them, and no other', async () => {
    const handler = ({ folder }: { folder: string }) => readFile(`${folder}/absent.txt`);
    const parameters = { type: 'object', properties: { folder: { type: 'string' } } } as const;
    jackdaw.app.get(ToolRegistry).register({ name: 'reads', handler, parameters, ...READ });
    const errorOf = async (args: object) =>
      (await callTool(jackdaw, 'reads', { arguments: { ...args } })).body['error'];
    expect(await errorOf({ folder: '/srv/given' })).toMatch(/open '\/srv\/given\/absent\.txt'$/);
    expect(await errorOf({ folder: '/srv/other/..' })).toMatch(/open '\/srv\/other\/\.\.\/absent\.txt'$/);
    const hidden = () => readFile('/srv/given-not/absent.txt');
    jackdaw.app.get(ToolRegistry).register({ name: 'hides', handler: hidden, parameters, ...READ });
    const { body } = await callTool(jackdaw, 'hides', { arguments: { folder: '/srv/given' } });
    expect(body['error']).toMatch(/open '\[path\]'$/);
  });
});

describe('the log of a failing call', () => {
  it('has the paths that its error for the model has not', async () => {
    await callTool(jackdaw, 'absentFile');
    const lines = jackdaw.log.map(({ msg }) => String(msg));
    expect(lines.filter((line) => line.includes("open '/srv/shop/keys/my key.pem'"))).not.toEqual([]);
  });

  it('has the stack, with the frames of the tool and of the executor', async () => {
    await callTool(jackdaw, 'deep');
    const line = jackdaw.log.map(({ msg }) => String(msg)).find((msg) => msg.includes('from deep inside'));
    expect(line).toMatch(/at inner .*tool-errors\.spec/);
    expect(line).toMatch(/at Deep\..*deep/);
    // V8 captures ten frames; those of Node's timers may take two of them.
    expect(line).toMatch(/at .*bounded-call\.executor/);
  });
});
