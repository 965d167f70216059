import { afterEach, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { RunAdmissionService } from '../src/run/index.js';
import { Tool } from '../src/tool/method/index.js';
import { keyHolder } from './support/api-keys.js';
import { type Jackdaw, type StartOptions, startJackdaw } from './support/jackdaw.js';
import { restoreProcess } from './support/process-defaults.js';
import { eventually } from './support/eventually.js';

const [DEBUG, INFO, WARN] = [20, 30, 40];
const ANN = keyHolder('ann', 'acme', 'user');
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };

type Line = Readonly<Record<string, unknown>>;

class NotingTools {
  @Tool({ description: 'Notes a text.', effect: 'read', paramsDescription: 'The text' })
  note(text: string): string {
    new Logger('Notes').log(`Noted ${text}`);
    return 'ok';
  }
}

let jackdaw: Jackdaw;
afterEach(async () => {
  await jackdaw.stop();
  // The log of a process is that of its first application.
  restoreProcess();
});

async function start(env: Record<string, string>, options: Omit<StartOptions, 'env'> = {}): Promise<void> {
  jackdaw = await startJackdaw({ env: { LOG_LEVEL: 'info', ...env }, ...options });
}

const requests = (): readonly Line[] => jackdaw.log.filter(({ context }) => context === 'Http');

/** The log of requests, when it has the line of a further one. */
async function requestsSoFar(): Promise<readonly Line[]> {
  await fetch(`${new URL(jackdaw.url).origin}/the-end`);
  const isEnd = ({ path }: Line) => path === '/the-end';
  await eventually(() => expect(requests().some(isEnd)).toBe(true));
  return requests().filter((line) => !isEnd(line));
}

describe('HTTP_LOG=on', () => {
  it('logs one line for each request, with its ids and its caller, and without its query', async () => {
    await start({ HTTP_LOG: 'on', API_KEYS: ANN.entry });
    const { body } = await jackdaw.chat({ query: 'hi', sessionId: 's1' }, { ...ANN.headers, ...PARENT });
    const run_id = String(body['run_id']);
    await jackdaw.get(`/api/runs/${run_id}?api_key=secret`, ANN.headers);
    const { headers } = await jackdaw.post('/api/agent/runs', { query: 'hi' }, ANN.headers);
    await jackdaw.get('/api/agents');
    const lines = await requestsSoFar();
    const caller = { level: INFO, principal: 'ann', tenant: 'acme' };
    const started = headers.get('location')!.split('/').at(-1);
    expect(lines).toMatchObject([
      { ...caller, method: 'POST', path: '/api/agent/chat', status: 200, run_id, trace_id: TRACE },
      { ...caller, method: 'GET', path: `/api/runs/${run_id}`, status: 200, run_id },
      { ...caller, method: 'POST', path: '/api/agent/runs', status: 202, run_id: started },
      { level: INFO, method: 'GET', path: '/api/agents', status: 401 },
    ]);
    for (const line of lines) {
      expect(line).toMatchObject({ duration_ms: expect.any(Number), request_id: expect.stringMatching(/^[\w-]{31}$/) });
      expect(Number(line['bytes'])).toBeGreaterThan(200);
    }
    expect(lines[3]).not.toHaveProperty('principal');
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('logs a stream at its end, with its bytes', async () => {
    await start({ HTTP_LOG: 'on' });
    const stream = await jackdaw.stream({ query: 'hi' });
    await stream.all();
    const [line] = await requestsSoFar();
    const run_id = stream.headers['x-run-id'];
    expect(line).toMatchObject({ path: '/api/agent/chat/stream', status: 200, run_id, msg: 'request completed' });
    expect(Number(line!['bytes'])).toBeGreaterThan(500);
  });

  it('leaves out probes and scrapes unless they fail', async () => {
    await start({ HTTP_LOG: 'on', API_KEYS: ANN.entry });
    await jackdaw.get('/api/health/live');
    await jackdaw.get('/api/health/ready');
    await fetch(`${jackdaw.url}/metrics`, { headers: ANN.headers });
    expect(await requestsSoFar()).toMatchObject([{ path: '/metrics', status: 403 }]);
  });

  it('logs the path below a prefix as the client sent it', async () => {
    await start({ HTTP_LOG: 'on', HTTP_PREFIX: '/base' });
    const { origin } = new URL(jackdaw.url);
    await fetch(`${origin}/base/api/agents`);
    await fetch(`${origin}/base/api/health/live`);
    expect((await requestsSoFar()).map(({ path }) => path)).toEqual(['/base/api/agents']);
  });
});

describe('HTTP_LOG', () => {
  it('is `errors` by default: other requests are logged at debug only', async () => {
    await start({ LOG_LEVEL: 'debug' });
    await jackdaw.get('/api/agents');
    expect(await requestsSoFar()).toMatchObject([{ level: DEBUG, path: '/api/agents' }]);
  });

  it.each([
    ['errors', [{ level: WARN, path: '/api/health/ready', status: 503 }]],
    ['off', []],
  ])('logs with `%s` the failed requests, or none', async (mode, expected) => {
    await start({ HTTP_LOG: mode });
    await fetch(`${jackdaw.url}/api/agents`);
    jackdaw.app.get(RunAdmissionService, { strict: false }).stop();
    expect((await fetch(`${jackdaw.url}/api/health/ready`)).status).toBe(503);
    await jackdaw.app.close();
    expect(requests()).toMatchObject(expected);
  });
});

describe('the log of a run', () => {
  it('has the ids of run, session, request and trace in every line, also of a tool', async () => {
    await start({}, { tools: [new NotingTools()] });
    const { body } = await jackdaw.chat({ query: 'call note hello', sessionId: 's1' }, PARENT);
    const ids = { run_id: body['run_id'], session_id: 's1', trace_id: TRACE, request_id: expect.any(String) };
    expect(jackdaw.log.filter(({ run_id }) => run_id !== undefined)).toMatchObject([
      { context: 'Notes', msg: 'Noted hello', ...ids },
      { context: 'RunExecutor', ...ids },
    ]);
  });
});

describe('LOG_LEVEL', () => {
  it('has levels of contexts', async () => {
    await start({ LOG_LEVEL: 'warn,RunExecutor=info,Http=debug' });
    await jackdaw.chat({ query: 'hi' });
    expect(await requestsSoFar()).toMatchObject([{ level: DEBUG, path: '/api/agent/chat' }]);
    const contexts = new Set(jackdaw.log.filter(({ level }) => Number(level) < WARN).map(({ context }) => context));
    expect(contexts).toEqual(new Set(['RunExecutor', 'Http']));
  });
});
