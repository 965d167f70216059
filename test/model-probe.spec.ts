import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { loadConfig, type EnvRecord } from '../src/config/index.js';
import { ModelProbe } from '../src/llm/index.js';
import { FakeLlm, type StrictOptions } from './support/fake-llm.js';
import type { FakeMessage, FakeRequest, FakeScript } from './support/fake-llm.types.js';
import { probedReply } from './support/probed-model.js';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';
import { STRICT_MODELS } from './support/provider-session-plan.js';

type ProbeReport = Awaited<ReturnType<ModelProbe['run']>>;

const KEY = 'sk-probe-1234567890';
const EXPECTED_LINES: Readonly<Record<string, readonly string[]>> = {
  'prod-chat': ['LLM_QUIRKS=drop:temperature,drop:topP,drop:stop,drop:frequencyPenalty,drop:presencePenalty'],
  'mistral-small': ['LLM_CAPABILITIES=vision'],
  'kimi-k2.6': ['LLM_CAPABILITIES=vision'],
  'gemini-3-flash': ['LLM_CAPABILITIES=vision'],
  'qwen3.5-plus': ['LLM_CAPABILITIES=vision'],
  'qwen3-32b': ['LLM_CAPABILITIES=vision'],
  'mistral-7b-instruct': ['LLM_CAPABILITIES=vision'],
};
/** Rules that a probe breaks to detect a capability. */
const PROBED_RULES = ['openai/temperature', 'openai/sampling', 'deepseek/images'];

let llm: FakeLlm;
afterEach(async () => {
  await killAll();
  await llm.close();
});

async function start(script: FakeScript = probedReply, options: StrictOptions = {}): Promise<FakeLlm> {
  llm = await FakeLlm.start(options);
  return llm.always(script);
}

/** The reply of a reasoning model, with signed calls. */
function reasoningReply(request: FakeRequest): FakeMessage {
  const reply = probedReply(request);
  return {
    ...reply,
    reasoning: 'I think.',
    ...(reply.calls && { calls: reply.calls.map((call) => ({ ...call, signature: 'SIG==' })) }),
  };
}

/** The variables of a provider at the fake. */
function envOf(provider: string): EnvRecord {
  if (provider !== 'azure') return llm.envOf(provider);
  return { LLM_PROVIDER: provider, AZURE_OPENAI_API_KEY: 'test', AZURE_OPENAI_ENDPOINT: llm.url };
}

async function probe(env: EnvRecord, lines: readonly string[] = []): Promise<ProbeReport & { calls: number }> {
  const made = new ModelProbe(loadConfig({ env, envFile: lines.join('\n') }).config.llm);
  try {
    return { ...(await made.run(new AbortController().signal)), calls: made.plan.calls };
  } finally {
    await made.close();
  }
}

const rowsWith = ({ rows }: ProbeReport, wanted: string) =>
  rows.filter(({ outcome }) => outcome === wanted).map(({ check }) => check);

describe('the probe of a strict provider', () => {
  it.each(STRICT_MODELS.map(({ model, provider, strict }) => [model, provider, strict] as const))(
    'breaks no other rule with %s of %s, and its lines leave nothing to adapt',
    async (model, provider, strict) => {
      await start(reasoningReply, { strict });
      const env = { ...envOf(provider), LLM_MODEL: model };
      const first = await probe(env);
      expect(rowsWith(first, 'ok')).toContain('reasoning');
      expect([first.isUsable, rowsWith(first, 'failed'), first.lines]).toEqual([true, [], EXPECTED_LINES[model] ?? []]);
      const broken = new Set(llm.broken.map(({ rule }) => rule));
      expect([...broken].filter((rule) => !PROBED_RULES.includes(rule))).toEqual([]);
      expect(llm.requests.length).toBeLessThanOrEqual(first.calls + llm.broken.length);

      const second = await probe(env, first.lines);
      expect([second.isUsable, rowsWith(second, 'adapted'), second.lines]).toEqual([true, [], []]);
    },
  );
});

describe('the probe of a provider with limits', () => {
  const env = (more: EnvRecord = {}) => ({ ...llm.envOf('openai-compatible'), LLM_MODEL: 'house-model', ...more });
  const refuse =
    (isRefused: (request: FakeRequest) => boolean, message: string): FakeScript =>
    (request) =>
      isRefused(request) ? { status: 400, body: { error: { message } } } : probedReply(request);

  it('reports that a set parameter is refused, as every chat would fail', async () => {
    await start(refuse((request) => request['temperature'] !== undefined, "Unsupported parameter: 'temperature'"));
    const report = await probe(env({ LLM_TEMPERATURE: '0.3' }));
    expect(report).toMatchObject({
      isUsable: false,
      lines: ['LLM_QUIRKS=drop:temperature', 'LLM_CAPABILITIES=vision'],
    });
    expect(rowsWith(report, 'failed')).toEqual(['temperature']);
    expect(await probe(env({ LLM_TEMPERATURE: '0.3' }), report.lines)).toMatchObject({ isUsable: true, lines: [] });
  });

  it('reports that the model takes no set parameter, as the server would not start', async () => {
    await start();
    const given = { ...llm.env, LLM_MODEL: 'gpt-5.6-luna', LLM_TEMPERATURE: '0.3' };
    const report = await probe(given);
    expect(report).toMatchObject({ isUsable: false, lines: ['LLM_UNSUPPORTED_PARAMETERS=drop'] });
    expect(await probe(given, report.lines)).toMatchObject({ isUsable: true, lines: [] });
  });

  it('lists changes of requests that need no setting', async () => {
    await start(refuse((request) => request['max_tokens'] !== undefined, "Unsupported parameter: 'max_tokens'"));
    const report = await probe(env({ LLM_CAPABILITIES: 'vision' }));
    expect(report).toMatchObject({
      isUsable: true,
      lines: [],
      automatic: ['max_tokens is sent as max_completion_tokens'],
    });
    expect(rowsWith(report, 'adapted')).toEqual(['max tokens']);
  });

  it('lists a base URL without /v1', async () => {
    await start((request) => {
      const isVersioned = llm.envelopes.at(-1)!.path.startsWith('/v1/');
      return isVersioned ? probedReply(request) : { status: 404, body: { error: { message: 'Not Found' } } };
    });
    const report = await probe(env({ LLM_BASE_URL: llm.url.replace(/\/v1$/, ''), LLM_CAPABILITIES: 'vision' }));
    expect(report).toMatchObject({ isUsable: true, lines: [], automatic: ['/v1 is added to the base URL'] });
  });

  it('finds that tool choices, JSON mode and images are refused', async () => {
    const fields = (request: FakeRequest) =>
      (request['response_format'] ?? (typeof request['tool_choice'] === 'object' || request['tool_choice'])) ||
      JSON.stringify(request.messages).includes('image_url');
    await start(refuse((request) => Boolean(fields(request)), 'This field is not implemented.'));
    const given = env({ LLM_CAPABILITIES: 'vision' });
    const report = await probe(given);
    expect(report).toMatchObject({
      isUsable: true,
      lines: ['LLM_CAPABILITIES=!vision,!forcedToolChoice,!jsonMode'],
    });
    const again = await probe({ ...given, LLM_CAPABILITIES: report.lines[0]!.split('=')[1] });
    expect([rowsWith(again, 'adapted'), rowsWith(again, 'failed'), again.lines]).toEqual([[], [], []]);
  });

  it('recommends tools as text where tools are refused, and makes no further calls with them', async () => {
    await start(refuse(({ tools }) => tools !== undefined, 'house-model does not support tools'));
    const report = await probe(env({ LLM_PROTOCOL: 'native' }));
    expect(report.isUsable).toBe(false);
    expect(llm.requests.filter(({ tools }) => tools)).toHaveLength(2);
    expect(report.lines).toEqual(['LLM_CAPABILITIES=!functionCalling,vision', 'LLM_PROTOCOL=auto']);
    llm.requests.length = 0;
    expect(await probe(env(), report.lines)).toMatchObject({ isUsable: true, lines: [] });
    expect(llm.requests.filter(({ tools }) => tools)).toEqual([]);
  });

  it('fails for a model that answers with text where it should call', async () => {
    await start({ text: 'I cannot.' });
    const report = await probe(env());
    expect([report.isUsable, report.skipped]).toEqual([false, 0]);
    expect(rowsWith(report, 'failed')).toEqual(
      expect.arrayContaining(['tools', 'streamed tools', 'tool results', 'second turn', 'json mode']),
    );
  });

  it('stops after a silent chat and a silent stream', async () => {
    await start({ hang: true });
    const report = await probe(env({ LLM_TIMEOUT_MS: '50' }));
    expect(report.rows).toMatchObject([
      { check: 'chat', outcome: 'failed', detail: expect.stringContaining('50 ms') },
      { check: 'stream', outcome: 'failed', detail: expect.stringContaining('50 ms') },
    ]);
    expect(report.skipped).toBeGreaterThan(20);
  });
});

describe('npm run probe:model', () => {
  beforeAll(() => buildIfStale());

  async function run(env: EnvRecord, ...args: string[]) {
    const program = ServerProcess.start('dist/cli.js', env as Record<string, string>, ['probe', ...args]);
    const { code } = await program.ended;
    return { code, out: program.lines.join('\n'), err: program.stderr };
  }
  const env = () => ({ ...llm.envOf('openai-compatible'), LLM_API_KEY: KEY, LLM_MODEL: 'house-model' });

  it('prints the calls and their target, then a row for each check, then the lines for .env', async () => {
    await start();
    const { code, out, err } = await run({ ...env(), LLM_BASE_URL: `${llm.url}?secret=1` });
    const [head, empty, ...rows] = out.split('\n');
    expect(head).toMatch(
      new RegExp(`^Probing model house-model of openai-compatible at ${llm.url} with at most \\d+ calls`),
    );
    expect([empty, rows[0]]).toEqual(['', expect.stringMatching(/^chat +ok +house-model answers$/)]);
    expect(out).toContain('\nAdaptations for .env:\n\nLLM_CAPABILITIES=vision\n\nThe model can run agents');
    expect([code, err, llm.envelopes.length]).toEqual([0, '', Number(/(\d+) calls/.exec(head!)![1])]);
    expect(out).not.toMatch(/secret=|sk-probe/);
  });

  it('prints one JSON document with --json', async () => {
    await start();
    const { code, out, err } = await run(env(), '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      provider: 'openai-compatible',
      model: 'house-model',
      address: llm.url,
      isUsable: true,
      lines: ['LLM_CAPABILITIES=vision'],
    });
    expect(err).toMatch(/^Probing model/);
  });

  it('makes one call with a wrong key, and shows no key', async () => {
    await start({ status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}.` } } });
    const { code, out } = await run(env());
    expect([code, llm.requests.length]).toEqual([1, 1]);
    expect(out).toMatch(/chat +failed +The provider openai-compatible refused the API key .*Check LLM_API_KEY/);
    expect(out).toMatch(/\d+ further checks were not run: no chat works\.[^]*The model cannot run agents/);
    expect(out).not.toContain(KEY);
  });

  it('fails at an address without a server', async () => {
    await start();
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as { port: number };
    free.close();
    await once(free, 'close');
    const { code, out } = await run({ ...env(), LLM_BASE_URL: `http://127.0.0.1:${port}/v1` });
    expect(code).toBe(1);
    expect(out).toMatch(/chat +failed .*cannot be reached at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)/);
  });

  it('fails without a provider, with invalid variables, and with an unknown argument', async () => {
    await start();
    const none = await run({});
    expect(none).toMatchObject({ code: 1, out: '', err: expect.stringContaining('No model provider is configured') });
    const wrong = { ...env(), LLM_TIMEOUT_MS: 'soon' };
    const server = ServerProcess.start('dist/main.js', wrong);
    await server.ended;
    expect(await run(wrong)).toEqual({ code: 1, out: '', err: server.stderr });
    expect(server.stderr).toContain('LLM_TIMEOUT_MS');
    const unknown = await run(env(), '--jsn');
    expect(unknown).toMatchObject({ code: 2, out: '', err: expect.stringContaining("Unknown option '--jsn'") });
    expect(llm.requests).toEqual([]);
  });

  it('aborts the current call at SIGINT, and exits with 130', async () => {
    await start({ hang: true });
    const program = ServerProcess.start('dist/cli.js', env(), ['probe']);
    await llm.waitForRequest();
    expect(await program.kill('SIGINT')).toEqual({ code: 130, signal: null });
    await llm.waitForAbort();
    expect([llm.requests.length, program.stderr]).toEqual([1, 'The probe was interrupted.\n']);
  });
});
