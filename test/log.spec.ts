import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { AppError } from '../src/errors/index.js';
import { Database } from '../src/persistence/index.js';
import { RunFollowService } from '../src/run/follow/index.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { says, ScriptedChatModel, type Scripted } from './support/scripted-chat-model.js';

const KEY = 'a-secret-of-the-environment';
const [DEBUG, INFO, WARN, ERROR] = [20, 30, 40, 50];

type Line = Record<string, unknown>;

describe('the log', () => {
  let jackdaw: Jackdaw;
  let next: Scripted;
  let from: number;
  beforeAll(async () => {
    const script = Array.from({ length: 20 }, (): Scripted => async (request, signal) => {
      if (next instanceof Error) throw next;
      return typeof next === 'function' ? next(request, signal) : next;
    });
    jackdaw = await startJackdaw({
      env: { LOG_LEVEL: 'debug', OPENAI_API_KEY: KEY },
      options: { chatModel: new ScriptedChatModel(script) },
    });
  });
  beforeEach(() => {
    from = jackdaw.log.length;
  });
  afterAll(() => jackdaw.stop());

  /** The log lines since the test started, as soon as they contain this many answered requests. */
  async function lines(answered: number): Promise<readonly Line[]> {
    const since = () => jackdaw.log.slice(from);
    while (since().filter(({ context }) => context === 'Http').length < answered)
      await new Promise((resolve) => setImmediate(resolve));
    return since();
  }

  it('lists the tools at info, and the modules and routes only at debug', () => {
    const info = jackdaw.log.filter(({ level }) => level === INFO);
    expect(info.map(({ msg }) => msg)).toEqual([
      'Registering tools from CalculatorTool',
      'Registered tool: calculator',
      'Registering tools from TimestampTool',
      'Registered tool: get_timestamp',
      'Registering tools from StringTools',
      'Registered tool: string_tools',
    ]);
    const contexts = new Set(jackdaw.log.filter(({ level }) => level === DEBUG).map(({ context }) => context));
    expect(contexts).toEqual(
      new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']),
    );
  });

  it('gives each line of a request an id of the server, not of the client, and logs the request once', async () => {
    next = says('yes');
    await jackdaw.chat({ query: 'one' }, { 'x-request-id': 'evil', 'request-id': 'evil' });
    await jackdaw.chat({ query: 'two' });
    const logged = await lines(2);
    const ids = [...new Set(logged.map(({ request_id }) => request_id))];
    expect(ids).toEqual([expect.stringMatching(/^[\w-]{31}$/), expect.stringMatching(/^[\w-]{31}$/)]);
    const requests = logged.filter(({ context }) => context === 'Http');
    expect(requests).toHaveLength(2);
    expect(requests[0]).toMatchObject({
      level: DEBUG,
      method: 'POST',
      path: '/api/agent/chat',
      status: 200,
      msg: 'request completed',
    });
    expect(JSON.stringify(logged)).not.toContain('evil');
  });

  it('reports a broken run in one error line with stack and ids, without secrets', async () => {
    next = Object.assign(new Error(`cannot reach it with ${KEY}`, { cause: new Error('Bearer 0123456789') }), {
      code: 'ERR_BAD_REQUEST',
      config: { headers: { Authorization: 'Bearer abcdef-private' } },
    });
    const { status, body } = await jackdaw.chat({ query: 'x', sessionId: 'broken' });
    expect(status).toBe(500);
    const logged = await lines(1);
    const errors = logged.filter(({ level }) => Number(level) >= ERROR);
    expect(errors).toMatchObject([
      {
        msg: 'A run broke',
        run_id: body['run_id'],
        session_id: 'broken',
        request_id: expect.any(String),
        err: { type: 'Error', code: 'ERR_BAD_REQUEST', stack: expect.stringContaining('log.spec') },
      },
    ]);
    const text = JSON.stringify(logged);
    expect(text.match(/"stack"/g)).toHaveLength(2);
    expect(text).toContain('cannot reach it with [redacted]');
    expect(text).not.toMatch(/environment|0123456789|private/);
    const request = logged.find(({ context }) => context === 'Http');
    expect(request).toMatchObject({ level: WARN, status: 500 });
    expect(request).not.toHaveProperty('err');
  });

  it('reports an unreachable model in warnings without a stack', async () => {
    next = new AppError('MODEL_UNREACHABLE', 'The model does not answer.', { cause: new Error('ECONNREFUSED') });
    const { status, body } = await jackdaw.chat({ query: 'x' });
    expect(status).toBe(502);
    const logged = await lines(1);
    expect(logged.filter(({ level }) => Number(level) > INFO)).toMatchObject([
      { level: WARN, code: 'MODEL_UNREACHABLE', run_id: body['run_id'] },
      { level: WARN, status: 502, msg: 'request failed with status code 502' },
    ]);
    expect(JSON.stringify(logged)).not.toContain('"stack"');
  });

  it('reports a failure outside of a run in one error line of the exception filter', async () => {
    const database = jackdaw.app.get(Database, { strict: false });
    const query = database.query.bind(database);
    database.query = () => Promise.reject(new Error('disk I/O error'));
    try {
      expect((await jackdaw.get('/api/runs/x')).status).toBe(500);
    } finally {
      database.query = query;
    }
    const logged = await lines(1);
    expect(logged.filter(({ level }) => level === ERROR)).toMatchObject([
      { context: 'HttpExceptionFilter', code: 'INTERNAL', err: { message: 'disk I/O error' } },
    ]);
  });

  it('reports a broken stream with its run', async () => {
    const follower = jackdaw.app.get(RunFollowService, { strict: false });
    const open = follower.open.bind(follower);
    follower.open = () => ({ items: broken }) as never;
    next = says('yes');
    const run_id = String((await jackdaw.chat({ query: 'x' })).body['run_id']);
    try {
      await (await jackdaw.follow(run_id)).all();
    } finally {
      follower.open = open;
    }
    expect((await lines(2)).filter(({ level }) => level === ERROR)).toMatchObject([
      { context: 'EventStreamService', run_id, err: { message: 'the journal broke' } },
    ]);
  });

  it.each([
    [
      'with a message',
      () => new Logger('Test').error({ err: new Error('why'), run_id: 'r', session_id: 's' }, 'what'),
      'what',
    ],
    [
      'without a message',
      () => new Logger('Test').error({ err: new Error('why'), run_id: 'r', session_id: 's' }),
      'why',
    ],
  ])('puts the error and the ids at the top level of a line: %s', async (_case, log, msg) => {
    log();
    expect(jackdaw.log.at(-1)).toMatchObject({
      level: ERROR,
      context: 'Test',
      run_id: 'r',
      session_id: 's',
      err: { type: 'Error', message: 'why', stack: expect.any(String) },
      msg,
    });
  });
});

async function* broken(): AsyncGenerator<never, void> {
  yield* {
    [Symbol.asyncIterator]: () => ({
      next: (): Promise<IteratorResult<never>> => Promise.reject(new Error('the journal broke')),
    }),
  };
}
