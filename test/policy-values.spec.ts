import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent, Tool, type ToolContext } from '../src/index.js';
import { SecurityPolicies, type SecurityPolicy } from '../src/tool-policy/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { calls, says, ScriptedChatModel } from './support/scripted-chat-model.js';
import { PASSWORDS, SPELLINGS } from './support/spellings.js';
import { WRITERS } from './support/protocol-writer.js';
import { decisionsIn, resultsIn } from './support/waiting-run.js';

const CARD = '4111111111111111';
const KEY = '-----BEGIN PRIVATE KEY-----\\nabcdef\\n';
const PHONE = { name: 'phone', pattern: '1[3-9]\\d{9}' };
const PROTOCOLS = ['native', 'react', 'xml'] as const;

/** A tool whose results are set by the test, so that no argument of a call contains them. */
class Source {
  value: unknown;

  @Tool({ description: 'Reads a value.', effect: 'read', input: { type: 'object' } })
  read(): unknown {
    if (this.value instanceof Error) throw this.value;
    return this.value;
  }

  @Tool({ description: 'Logs.', effect: 'read', input: { type: 'object' } })
  note(_args: unknown, context: ToolContext): string {
    context.logger.warn('wrote to ann@mail.example', { to: ['ann＠mail.example'], phone: 5 });
    return 'done';
  }
}

const source = new Source();
let llm: FakeLlm;
let jackdaw: Jackdaw;
let sessions = 0;

beforeAll(async () => {
  llm = await FakeLlm.start();
  const agents = PROTOCOLS.map((protocol) => ({ name: protocol, protocol, model: { provider: 'openai' } }));
  const guardrails = { content: { emails: { output: 'mask' } } } as const;
  const guarded = { name: 'guarded', model: { provider: 'openai' }, guardrails };
  const env = { LOG_LEVEL: 'trace' };
  jackdaw = await startJackdaw({
    llm,
    env,
    tools: [source],
    options: { agents: [...agents, guarded], builtinTools: false },
  });
});
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function rule(content: SecurityPolicy['content']): Promise<void> {
  return jackdaw.app.get(SecurityPolicies).set({ rateLimits: [], ...(content && { content }) });
}

function formatOf(card: unknown): object {
  const properties = { card, note: { type: 'string' } };
  return { schema: { type: 'object', properties, required: ['card', 'note'], additionalProperties: false } };
}

/** The parts of the journal, the database's files and the log that contain a text. */
function leaks(text: string): string[] {
  const files = readdirSync(jackdaw.dataDir).filter((name) => readFileSync(join(jackdaw.dataDir, name)).includes(text));
  return JSON.stringify(jackdaw.log).includes(text) ? [...files, 'log'] : files;
}

async function ask(
  answer: string,
  responseFormat: object | 'json' | undefined,
  agent: (typeof PROTOCOLS)[number] = 'native',
) {
  llm.reply(WRITERS[agent].answer(answer));
  const stream = await jackdaw.stream({
    query: 'go',
    agent,
    ...(responseFormat && { responseFormat }),
    sessionId: `s${++sessions}`,
  });
  const events = await stream.all();
  const deltas = events.flatMap(({ event, data }) => (event === 'message.delta' ? [String(data['text'])] : []));
  return { events, text: deltas.join(''), end: events.at(-1)!.data };
}

const ANSWERS = [
  ['a string', `{"card":"${CARD}","note":"n"}`, 'string', { card: '[cards]', note: 'n' }],
  [
    'a number in a field of strings and numbers',
    `{"card":${CARD},"note":"n"}`,
    ['string', 'integer'],
    { card: '[cards]', note: 'n' },
  ],
  [
    'a number in a nullable integer field',
    `{"card":${CARD},"note":"n"}`,
    ['integer', 'null'],
    { card: null, note: 'n' },
  ],
  ['a number in an integer field', `{"card": ${CARD}, "note":"n"}`, 'integer', { card: 0, note: 'n' }],
  ['a number with an exponent', `{"card":4.111111111111111e15,"note":"n"}`, 'number', { card: 0, note: 'n' }],
  [
    'a string after an escape',
    '{"card":"a","note":"x\\njo@mail.example"}',
    'string',
    { card: 'a', note: 'x\n[emails]' },
  ],
  ['a private key', `{"card":"a","note":"${KEY}"}`, 'string', { card: 'a', note: '[secrets]' }],
  [
    'escaped slashes',
    '{"card":"a","note":"db:\\/\\/ann:hunter2@h\\/x"}',
    'string',
    { card: 'a', note: 'db://ann:[secrets]@h/x' },
  ],
  ['an escaped @', '{"card":"a","note":"jo\\u0040mail.example"}', 'string', { card: 'a', note: '[emails]' }],
  ['escaped digits', '{"card":"\\u0034111111111111111","note":"n"}', 'string', { card: '[cards]', note: 'n' }],
  [
    'JSON in a string',
    JSON.stringify({ card: JSON.stringify({ n: Number(CARD) }), note: 'n' }),
    'string',
    { card: '{"n":"[cards]"}', note: 'n' },
  ],
  [
    'a string that must match a pattern',
    `{"card":"${CARD}","note":"n"}`,
    { type: 'string', pattern: '^\\d+$' },
    { card: '[cards]', note: 'n' },
  ],
] as const;

describe('a structured answer with a mask', () => {
  const all = { cards: { output: 'mask' }, emails: { output: 'mask' }, secrets: { output: 'mask' } } as const;

  it.each(ANSWERS)(
    'stays JSON and has an output that agrees with its text: %s',
    async (_name, answer, type, output) => {
      await rule(all);
      const card = typeof type === 'string' || Array.isArray(type) ? { type } : type;
      const { events, text, end } = await ask(answer, formatOf(card));
      expect(end).toMatchObject({ type: 'run.completed', is_complete: true, output, result: text });
      expect(JSON.parse(text)).toEqual(output);
      expect(llm.requests).toHaveLength(1);
      expect(decisionsIn(events)).toMatchObject([{ policy: 'content', on: 'output', decision: 'masked' }]);
      for (const gone of [CARD, 'jo@mail', 'u0040mail', 'hunter2', 'abcdef', '4.111111111111111e15'])
        expect([leaks(gone), JSON.stringify(events).includes(gone)]).toEqual([[], false]);
    },
  );

  it('is byte-identical where nothing is found', async () => {
    await rule(all);
    const answer = '{ "card": 12345678901234567890.0,\n "note": "\\u0041\\/" }';
    const { text, end } = await ask(answer, formatOf({ type: 'number' }));
    expect([text, end['result']]).toEqual([answer, answer]);
  });

  it('keeps the digits of its other numbers, its white space and the words around it', async () => {
    await rule(all);
    const answer = `for jo@mail.example:\n\`\`\`json\n{ "big": 12345678901234567891, "jo@mail.example": 1.50 }\n\`\`\``;
    const { text, end } = await ask(answer, 'json');
    expect(text).toBe('for [emails]:\n```json\n{ "big": 12345678901234567891, "[emails]": 1.50 }\n```');
    expect(end['result']).toBe(text);
  });

  it.each(PROTOCOLS)('is the same in every protocol: %s', async (protocol) => {
    await rule(all);
    const { text, end } = await ask(
      `{"card":${CARD},"note":"jo\\u0040mail.example"}`,
      formatOf({ type: 'integer' }),
      protocol,
    );
    expect(end).toMatchObject({ output: { card: 0, note: '[emails]' }, result: '{"card":0,"note":"[emails]"}' });
    expect([text, leaks(CARD)]).toEqual([end['result'], []]);
  });

  it('is withheld for a number or an escape where the finding is blocked', async () => {
    await rule({ cards: { output: 'block' }, emails: { output: 'block' } });
    for (const answer of [`{"card":${CARD},"note":""}`, '{"card":1,"note":"jo\\u0040mail.example"}'])
      expect((await ask(answer, formatOf({ type: 'integer' }))).end).toMatchObject({ finish_reason: 'content_filter' });
  });

  it('is corrected by the model if it does not have its format, and the model sees no finding in that', async () => {
    await rule(all);
    llm.reply({ text: `{"card":"${CARD}"}` });
    const { end } = await ask('{"card":"b","note":"n"}', formatOf({ type: 'string' }));
    expect(end).toMatchObject({ output: { card: 'b', note: 'n' } });
    expect(JSON.stringify(llm.lastRequest.messages)).not.toContain(CARD);
  });
});

describe('a tool’s result with a mask', () => {
  const phone = 13_800_138_000;
  it.each([
    ['a number', { phone }, { phone: '[phone]' }],
    ['a short number', { pin: 4711, n: 4712 }, { pin: '[pin]', n: 4712 }],
    ['a list', [[phone]], [['[phone]']]],
    ['a number with a fraction', { n: 13_800_138_000.5 }, { n: '[phone].5' }],
    ['a number with an exponent in JSON', '[1.3800138e10]', '["[phone]"]'],
    ['a key', { [String(phone)]: 1 }, { '[phone]': 1 }],
    ['nested texts', [[{ a: [`call ${phone}`] }]], [[{ a: ['call [phone]'] }]]],
    ['JSON in a string', JSON.stringify({ phone, ok: 1 }), '{"phone":"[phone]","ok":1}'],
    ['JSON in a string with escapes', '{"p":"\\u00313800138000"}', '{"p":"[phone]"}'],
    ['JSON in JSON in a string', JSON.stringify([JSON.stringify({ phone })]), JSON.stringify(['{"phone":"[phone]"}'])],
  ])('shows every number to patterns: %s', async (_name, value, masked) => {
    const pin = { name: 'pin', pattern: '\\b4711\\b', results: 'mask' as const };
    await rule({ patterns: [{ ...PHONE, results: 'mask' }, pin] });
    source.value = value;
    llm.reply({ calls: [{ id: 'c', name: 'read', arguments: {} }] }, { text: 'done' });
    const { body } = await jackdaw.chat({ query: 'go', agent: 'native', sessionId: `s${++sessions}` });
    const events = await jackdaw.events(String(body['run_id']));
    expect(resultsIn(events)['c']).toEqual(masked);
    expect(JSON.stringify(llm.lastRequest.messages)).not.toMatch(/3800138|4711/);
    expect([leaks(String(phone)), JSON.stringify(events)]).toEqual([[], expect.not.stringMatching(/13800138/)]);
  });
});

describe('spelled content', () => {
  const everywhere = { input: 'mask', results: 'mask', output: 'mask' } as const;

  const spelled = SPELLINGS.map(([name, spelling, text]) => [`${name} ${spelling}`, text, `[${name}]`] as const);
  const passwords = PASSWORDS.map(([url, masked]) => [`secrets ${masked}`, url, masked] as const);

  it.each([...spelled, ...passwords])(
    'leaves by no exit: stream, output, result, journal, log (%s)',
    async (_title, text, masked) => {
      await rule({ secrets: everywhere, cards: everywhere, ids: everywhere, emails: everywhere });
      const streamed = await ask(`its ${text}, ok`, undefined);
      expect([streamed.text, streamed.end['result']]).toEqual([`its ${masked}, ok`, `its ${masked}, ok`]);
      const { end } = await ask(JSON.stringify({ card: text, note: '' }), formatOf({ type: 'string' }));
      expect(end).toMatchObject({ output: { card: masked } });
      for (const value of [{ a: [text] }, new Error(`no ${text}`)]) {
        source.value = value;
        llm.reply({ calls: [{ id: 'c', name: 'read', arguments: {} }] }, { text: 'done' });
        await jackdaw.chat({ query: `go ${text}`, agent: 'native', sessionId: `s${++sessions}` });
        expect(JSON.stringify(llm.lastRequest.messages)).not.toContain(JSON.stringify(text).slice(1, -1));
      }
      expect([leaks(text), leaks(JSON.stringify(text).slice(1, -1))]).toEqual([[], []]);
    },
  );
});

describe('the log', () => {
  it('masks thrown errors of tools, and keeps its own fields', async () => {
    await rule({ patterns: [{ name: 'phone', pattern: '1\\d{9,}', results: 'mask' }] });
    source.value = new Error('no 13800138000', { cause: new Error('by 13800138001') });
    llm.reply({ calls: [{ id: 'c', name: 'read', arguments: {} }] }, { text: 'done' });
    const from = jackdaw.log.length;
    await jackdaw.chat({ query: 'go', agent: 'native', sessionId: `s${++sessions}` });
    const line = jackdaw.log.slice(from).find(({ msg }) => String(msg).includes('failed'));
    expect(line).toMatchObject({ msg: expect.stringContaining('Tool "read" failed: Error: no [phone]') });
    expect(line?.['time']).toEqual(expect.any(Number));
    expect(leaks('1380013800')).toEqual([]);
  });

  it('masks the lines of a tool and its request, also for an agent’s own rules', async () => {
    await rule(undefined);
    const from = jackdaw.log.length;
    llm.reply({ calls: [{ id: 'c', name: 'note', arguments: {} }] }, { text: 'done' });
    await jackdaw.chat({ query: 'go', agent: 'guarded', sessionId: `s${++sessions}` });
    const lines = jackdaw.log.slice(from).filter(({ context }) => context === 'Tool');
    expect(lines).toMatchObject([{ msg: 'wrote to [emails]', to: ['[emails]'], phone: 5 }]);
  });

  it('does not contain the unmasked error of a tool if a host application writes it', async () => {
    const folder = newFolder();
    const lines: unknown[] = [];
    const write = (...line: unknown[]) => void lines.push(line);
    source.value = new Error('no 13800138000');
    const script = [calls(['read', {}]), says('done')];
    const agent = await createAgent({
      chatModel: new ScriptedChatModel(script.map((reply) => async () => reply)),
      config: { DATA_DIR: folder },
      tools: [source],
      securityPolicy: { content: { patterns: [{ ...PHONE, results: 'mask' }] } },
      logger: { log: write, error: write, warn: write },
    });
    await agent.chat('go');
    await agent.close();
    rmSync(folder, { recursive: true });
    expect(JSON.stringify(lines)).toContain('no [phone]');
    expect(JSON.stringify(lines)).not.toContain('13800138000');
  });
});
