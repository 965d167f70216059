import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { RunItem, type RunEvent } from '../../run/event/index.js';
import { StreamRestartedError, textOf, type TextStreamOptions } from './text-stream.mapper.js';

const RUN = 'run-1';
const USAGE = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

const delta = (text: string): RunEvent => ({ type: 'message.delta', iteration: 1, text });
const restart = (text = ''): RunEvent => ({ type: 'step.restarted', iteration: 1, text });
const message = (text: string, ...tools: string[]): RunEvent => ({
  type: 'message.completed',
  iteration: 1,
  text,
  finish_reason: 'stop',
  tool_calls: tools.map((name) => ({ id: name, name, arguments: '{}' })),
});
const end = (result: string, finish_reason: 'stop' | 'iteration_limit' | 'length' = 'stop'): RunEvent => ({
  type: 'run.completed',
  run_id: RUN,
  result,
  finish_reason,
  is_complete: finish_reason === 'stop',
  iterations: 1,
  usage: USAGE,
  model: 'm',
});

async function* itemsOf(events: readonly RunEvent[]): AsyncGenerator<RunItem, void> {
  let n = 1;
  for (const event of events) {
    const isLive = event.type === 'message.delta' || event.type === 'step.restarted' || event.type === 'stream.closed';
    yield new RunItem(isLive ? null : n++, 0, event);
  }
}

interface Read {
  readonly pieces: string[];
  readonly error?: unknown;
}

async function read(events: readonly RunEvent[], options: Partial<TextStreamOptions> = {}): Promise<Read> {
  const pieces: string[] = [];
  try {
    const stream = textOf(itemsOf(events), { runId: RUN, delivery: 'live', ...options });
    for await (const piece of stream) pieces.push(piece);
    return { pieces };
  } catch (error) {
    return { pieces, error };
  }
}

/** Texts with many characters outside of the Basic Multilingual Plane, which share their first unit. */
const character = fc.constantFrom('a', 'b', ' ', '\n', 'é', '鸟', '😀', '😁', '🐦\u200d⬛');
const textArbitrary = fc.array(character, { minLength: 1, maxLength: 24 }).map((all) => all.join(''));
/** Cut positions of a text, in UTF-16 units, also within a surrogate pair. */
const cuts = fc.array(fc.nat(60), { maxLength: 8 });

function split(text: string, at: readonly number[]): string[] {
  const places = [0, ...at.map((place) => place % (text.length + 1)).toSorted((a, b) => a - b), text.length];
  return places.slice(1).map((place, i) => text.slice(places[i], place));
}

/** Text length of an interrupted attempt, and the cut positions of its pieces. */
const attempts = fc.array(fc.record({ length: fc.nat(60), at: cuts, isInOne: fc.boolean() }), { maxLength: 5 });

function eventsOf(whole: string, broken: readonly { length: number; at: number[]; isInOne: boolean }[]): RunEvent[] {
  return broken.flatMap(({ length, at, isInOne }) => {
    const said = whole.slice(0, length % (whole.length + 1));
    const [first, ...others] = split(said, at);
    return isInOne ? [restart(said)] : [restart(first), ...others.map(delta)];
  });
}

describe('the text of a run', () => {
  it('equals the answer after any repeated attempts, in chunks of any size', async () => {
    const property = fc.asyncProperty(textArbitrary, attempts, cuts, fc.boolean(), async (text, broken, at, isLate) => {
      const last = isLate ? [] : [restart(), ...split(text, at).map(delta)];
      const { pieces, error } = await read([...eventsOf(text, broken), ...last, message(text), end(text)]);
      expect(error).toBeUndefined();
      expect(pieces.join('')).toBe(text);
      expect(pieces.every((piece) => piece.isWellFormed() && piece !== '')).toBe(true);
    });
    await fc.assert(property, { numRuns: 2_000 });
  });

  it('is never repeated or changed: a stream that differs ends with the delivered text', async () => {
    const property = fc.asyncProperty(textArbitrary, attempts, textArbitrary, cuts, async (text, broken, other, at) => {
      const restarted = [restart(), ...split(other, at).map(delta)];
      const { pieces, error } = await read([...eventsOf(text, broken), ...restarted, message(other), end(other)]);
      const delivered = pieces.join('');
      expect(pieces.every((piece) => piece.isWellFormed() && piece !== '')).toBe(true);
      const mayContinue = other.startsWith(delivered);
      expect(text.startsWith(delivered) || mayContinue).toBe(true);
      expect(mayContinue ? delivered : error).toEqual(mayContinue ? other : new StreamRestartedError(delivered, RUN));
      expect(error === undefined).toBe(mayContinue);
    });
    await fc.assert(property, { numRuns: 2_000 });
  });

  it('equals the answer in every delivery except live, even if attempts differ', async () => {
    const property = fc.asyncProperty(textArbitrary, attempts, textArbitrary, async (text, broken, other) => {
      const events = [...eventsOf(text, broken), restart(other), message(other), end(other)];
      expect(await read(events, { delivery: 'replies' })).toEqual({ pieces: [other] });
      expect(await read(events, { delivery: 'answer' })).toEqual({ pieces: [other] });
    });
    await fc.assert(property);
  });

  it('includes the text beside tool calls, except in the delivery of the answer only', async () => {
    const events = [
      delta('\n'),
      message('\n', 'look'),
      delta('I look.'),
      message('I look.', 'look'),
      delta('I look.'),
      message('I look.'),
      end('I look.'),
    ];
    expect(await read(events)).toEqual({ pieces: ['I look.', 'I look.'] });
    expect(await read(events, { delivery: 'replies' })).toEqual({ pieces: ['I look.', 'I look.'] });
    expect(await read(events, { delivery: 'answer' })).toEqual({ pieces: ['I look.'] });
  });

  it.each([
    ['iteration_limit', []],
    ['length', [message('')]],
  ] as const)('includes the text beside calls once if the run ends before its answer (%s)', async (reason, last) => {
    const events = [delta('I look.'), message('I look.', 'look'), message('', 'look'), ...last, end('I look.', reason)];
    expect(await read(events)).toEqual({ pieces: ['I look.'] });
    expect(await read(events, { delivery: 'replies' })).toEqual({ pieces: ['I look.'] });
    expect(await read(events, { delivery: 'answer' })).toEqual({ pieces: ['I look.'] });
  });

  it('is emitted whole if the model does not stream, and is compared with the completed message', async () => {
    expect(await read([message('Whole.'), end('Whole.')])).toEqual({ pieces: ['Whole.'] });
    const { pieces, error } = await read([delta('Half of'), message(''), end('')]);
    expect([pieces, error]).toEqual([['Half of'], expect.any(StreamRestartedError)]);
  });

  it('excludes a structured answer until its value is accepted', async () => {
    const refusal = new Error('refused');
    const structured = { ...end('{}'), output: {} } as RunEvent;
    const accept = async (): Promise<never> => Promise.reject(refusal);
    expect(await read([message('{}'), structured], { delivery: 'answer', accept })).toEqual({
      pieces: [],
      error: refusal,
    });
  });
});

describe('a text whose run cannot be followed further', () => {
  const closed = (code: string): RunEvent => ({ type: 'stream.closed', run_id: RUN, code });

  it('fails with the reason', async () => {
    const { pieces, error } = await read([delta('one'), closed('SHUTTING_DOWN')]);
    expect([pieces, error]).toMatchObject([['one'], { code: 'SHUTTING_DOWN', details: { run_id: RUN } }]);
  });
});
