import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  Extension,
  Processor,
  StreamRestartedError,
  type Agent,
  type CreateAgentOptions,
  type ExtensionHost,
  type Loop,
  type RunNotice,
} from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { FakeLlm } from './support/fake-llm.js';
import { says } from './support/scripted-chat-model.js';

const FORMAT = { schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } };
const BAD = '{"n":"one"}';
const GOOD = '{"n":2}';
const look = { name: 'look', description: 'Looks.', handler: () => 'seen' };
const lookCall = { calls: [{ name: 'look', arguments: {} }] };

const host = new AgentHost();
let llm: FakeLlm;
let other: FakeLlm;
beforeAll(async () => {
  llm = await FakeLlm.start();
  other = await FakeLlm.start();
});
afterEach(async () => {
  await host.stop();
  llm.reset();
  other.reset();
});
afterAll(async () => {
  await llm.close();
  await other.close();
});

function start(env: Record<string, string> = {}, options: CreateAgentOptions = {}): Promise<Agent> {
  const own = { ...host.environment(), ...llm.envOf('openai'), LLM_MODEL: 'gpt-4o', LLM_RETRY_DELAY_MS: '0' };
  return host.start({ config: { ...own, LLM_MAX_ATTEMPTS: '4', ...env }, ...options });
}

function startWithFallback(): Promise<Agent> {
  return start({ LLM_MAX_ATTEMPTS: '1', LLM_FALLBACK: 'ollama:qwen3', OLLAMA_BASE_URL: other.url });
}

interface Read {
  readonly pieces: string[];
  readonly text: string;
  readonly error?: unknown;
}

/** The pieces of a stream, and the error that ended it. */
async function read(stream: AsyncIterable<string>): Promise<Read> {
  const pieces: string[] = [];
  try {
    for await (const piece of stream) pieces.push(piece);
    return { pieces, text: pieces.join('') };
  } catch (error) {
    return { pieces, text: pieces.join(''), error };
  }
}

/** Changes answers, as a guardrail of the application may do. */
class Guardrail extends Processor {
  readonly name = 'guardrail';

  constructor(private readonly change: (loop: Loop) => void) {
    super();
  }

  override async process(loop: Loop): Promise<void> {
    if (loop.decoded?.calls.length === 0) this.change(loop);
  }
}

class GuardrailExtension extends Extension {
  readonly name = 'guardrails';
  readonly version = '1.0.0';

  constructor(private readonly change: (loop: Loop) => void) {
    super();
  }

  override register(agent: ExtensionHost): void {
    agent.registerProcessor(new Guardrail(this.change), { after: 'continue-or-finish' });
  }
}

describe('the text of a reply that starts again', () => {
  it('continues where it broke off when the retried streams repeat it', async () => {
    const agent = await start();
    llm.reply({ text: 'this is wro', cutAfter: 3 }, { text: 'this is', cutAfter: 2 }, { text: 'this is right' });
    expect(await read(agent.chatStream('x'))).toEqual({ pieces: ['this', ' is', ' right'], text: 'this is right' });
    expect(llm.requests).toHaveLength(3);
  });

  it('continues with the reply of a fallback model that repeats it', async () => {
    const agent = await startWithFallback();
    llm.reply({ text: 'It is nine', cutAfter: 3 });
    other.reply({ text: 'It is 42.' });
    expect(await read(agent.chatStream('x'))).toEqual({ pieces: ['It', ' is', ' 42.'], text: 'It is 42.' });
  });

  it('ends with an error that names the delivered text and the run when it differs; the run completes', async () => {
    const agent = await startWithFallback();
    llm.reply({ text: 'It is nine', cutAfter: 3 });
    other.reply({ text: 'The answer is 42.' });
    const { text, error } = await read(agent.session('s').chatStream('x'));
    expect(error).toBeInstanceOf(StreamRestartedError);
    expect(error).toMatchObject({ name: 'StreamRestartedError', code: 'STREAM_RESTARTED', delivered: text });
    expect(text).toBe('It is');
    const { runId } = error as StreamRestartedError;
    expect(await agent.outcome(runId)).toMatchObject({ content: 'The answer is 42.', isComplete: true, runId });
  });

  it('ends with that error when the retried reply is complete and shorter', async () => {
    const agent = await start();
    llm.reply({ text: 'one two three', cutAfter: 4 }, { text: 'one two' });
    const { pieces, error } = await read(agent.chatStream('x'));
    expect([pieces, error]).toEqual([['one', ' two', ' three'], expect.any(StreamRestartedError)]);
  });

  it('is compared within its reply, and reported with the text of the replies before', async () => {
    const agent = (await start()).registerTool(look);
    llm.reply({ text: 'I look. ', ...lookCall }, { text: 'Done so', cutAfter: 2 }, { text: 'Done well.' });
    expect((await read(agent.chatStream('x'))).text).toBe('I look. Done well.');
    llm.reply({ text: 'I look. ', ...lookCall }, { text: 'Done so', cutAfter: 2 }, { text: 'I look. No.' });
    const { text, error } = await read(agent.chatStream('x'));
    expect([text, error]).toMatchObject(['I look. Done', { delivered: 'I look. Done' }]);
  });

  it('is compared and delivered by whole characters', async () => {
    const agent = await start({ LLM_OPENAI_API: 'chat' });
    const piece = (content: string) => ({ choices: [{ index: 0, delta: { content } }] });
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
    llm.reply({ events: [piece('Hi \ud83d\ude00 \ud83d')] }, { events: [piece('Hi \ud83d')] });
    llm.reply({ events: [piece('Hi'), piece(' \ud83d'), piece('\ude00 \ud83d'), piece('\ude01!'), end, '[DONE]'] });
    const { pieces, text } = await read(agent.chatStream('x'));
    expect(text).toBe('Hi 😀 😁!');
    expect(pieces.every((one) => one.isWellFormed())).toBe(true);
  });

  it('is complete for a reader that is slower than the model', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const answer = 'a long story '.repeat(10_000);
    const telemetry = ({ event }: RunNotice) => event.type === 'run.completed' && resolve();
    const agent = await host.start({ telemetry: (notice) => void telemetry(notice) }, [says(answer)]);
    const stream = agent.chatStream('x');
    const first = await stream.next();
    await ended;
    const { text, error } = await read(stream);
    expect(error).toBeUndefined();
    expect(`${String(first.value)}${text}` === answer).toBe(true);
  });

  it('is not taken for a restart after a blank reply', async () => {
    const agent = await start();
    llm.reply({ text: ' \n ' }, { text: 'Here I am.' });
    expect((await read(agent.chatStream('x'))).text).toBe('Here I am.');
  });

  it('continues with the text that a guardrail appends to the answer', async () => {
    const agent = await (
      await start()
    ).use(
      new GuardrailExtension((loop) => (loop.decoded = { ...loop.decoded!, text: `${loop.decoded!.text} Regards.` })),
    );
    llm.reply({ text: 'Fine.' });
    expect((await read(agent.chatStream('x'))).text).toBe('Fine. Regards.');
  });

  it('ends with the error when a guardrail replaces the answer or has the model asked again', async () => {
    const agent = await (
      await start()
    ).use(
      new GuardrailExtension((loop) => {
        if (loop.decoded!.text === 'Fine.') loop.decoded = { ...loop.decoded!, text: 'Withheld.' };
        else if (loop.iteration === 1) loop.end = null;
      }),
    );
    llm.reply({ text: 'Fine.' }, { text: 'Bad.' }, { text: 'Good.' }, { text: 'Goo' }, { text: 'Good.' });
    const replaced = await read(agent.chatStream('x'));
    expect([replaced.text, replaced.error]).toMatchObject(['Fine.', { delivered: 'Fine.' }]);
    const { runId } = replaced.error as StreamRestartedError;
    expect((await agent.outcome(runId)).content).toBe('Withheld.');
    const askedAgain = await read(agent.chatStream('x'));
    expect([askedAgain.text, askedAgain.error]).toMatchObject(['Bad.', { delivered: 'Bad.' }]);
    await agent.outcome((askedAgain.error as StreamRestartedError).runId);
    expect(await read(agent.chatStream('x'))).toEqual({ pieces: ['Goo', 'd.'], text: 'Good.' });
    llm.reply({ text: 'Bad.' }, { text: 'Good.' }, { text: 'Fine.' });
    expect((await read(agent.chatStream('x', { onRestart: 'hold' }))).pieces).toEqual(['Good.']);
    expect((await read(agent.chatStream('x', { onRestart: 'hold' }))).pieces).toEqual(['Withheld.']);
  });

  it('is masked before it is compared, and withheld as a whole', async () => {
    const agent = await start();
    await agent.setSecurityPolicy({ content: { emails: { output: 'mask' } } });
    llm.reply({ text: 'Ask ann@example.org or', cutAfter: 3 }, { text: 'Ask ann@example.org or bob.' });
    const masked = (await read(agent.chatStream('x'))).text;
    expect(masked).toMatch(/^Ask .* or bob\.$/);
    expect(masked).not.toContain('ann@example.org');
    await agent.setSecurityPolicy({ content: { emails: { output: 'block' } } });
    llm.reply({ text: 'Ask ann@example.org or', cutAfter: 3 }, { text: 'Ask ann@example.org or bob.' });
    const { text, error } = await read(agent.chatStream('x'));
    expect([text, error]).toEqual([expect.stringContaining('withheld'), undefined]);
  });
});

describe('a stream that holds replies', () => {
  it('delivers each reply once, whole, whatever started again', async () => {
    const agent = (await startWithFallback()).registerTool(look);
    llm.reply({ text: 'I look.', ...lookCall }, { text: 'It is nine', cutAfter: 3 });
    other.reply({ text: 'The answer is 42.' });
    const { pieces, error } = await read(agent.chatStream('x', { onRestart: 'hold' }));
    expect([pieces, error]).toEqual([['I look.', 'The answer is 42.'], undefined]);
  });

  it('is refused with an unknown option value', async () => {
    const agent = await start();
    const invalid = { onRestart: 'retry' as never };
    expect(() => agent.chatStream('x', invalid)).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
    expect(() => agent.chatStream('x', invalid)).toThrow('onRestart must be "throw" or "hold"');
    expect(llm.requests).toHaveLength(0);
  });
});

describe('a structured answer', () => {
  it('is delivered when it is accepted, without rejected ones and without text beside tool calls', async () => {
    const agent = (await start()).registerTool(look);
    llm.reply({ text: 'Let me look.', ...lookCall }, { text: BAD }, { text: '{"n": 3}', cutAfter: 2 }, { text: GOOD });
    expect(await read(agent.chatStream('x', { responseFormat: FORMAT }))).toEqual({ pieces: [GOOD], text: GOOD });
    expect(llm.requests).toHaveLength(4);
  });

  it('is held where the agent has the format, too', async () => {
    const agent = await start({}, { responseFormat: 'json' });
    llm.reply({ text: 'none' }, { text: GOOD });
    expect((await read(agent.session('s').chatStream('x'))).text).toBe(GOOD);
  });

  it('is never delivered when all are rejected', async () => {
    const agent = await start();
    llm.always({ text: BAD });
    const { pieces, error } = await read(agent.chatStream('x', { responseFormat: FORMAT }));
    expect([pieces, error]).toMatchObject([[], { code: 'OUTPUT_INVALID', details: { run_id: expect.any(String) } }]);
  });

  it("is not delivered when its schema's own validator rejects it", async () => {
    const agent = await start();
    const even = z.object({ n: z.int().refine((n) => n % 2 === 0, 'must be even') });
    llm.reply({ text: '{"n":1}' }, { text: GOOD });
    const { pieces, error } = await read(agent.chatStream('x', { responseFormat: even }));
    expect([pieces, error]).toMatchObject([[], { code: 'OUTPUT_INVALID' }]);
    expect((await read(agent.chatStream('x', { responseFormat: even }))).text).toBe(GOOD);
  });
});
