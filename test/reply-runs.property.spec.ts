import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { array, assert, asyncProperty, boolean, tuple } from 'fast-check';
import { z } from 'zod';
import { Tool } from '../src/index.js';
import type { SseEvent } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { type Jackdaw, startJackdaw } from './support/jackdaw.js';
import { answerReply, callingReply, type LogicalReply } from './support/reply-variants/logical-reply.js';
import {
  DOCUMENTED,
  openAiVariant,
  toOpenAiBody,
  toOpenAiStream,
  type OpenAiVariant,
} from './support/reply-variants/openai-variants.js';

/** Runs of the property; `npm run test:properties` raises it. */
const numRuns = Number(process.env['PROPERTY_RUNS'] ?? 25);
vi.setConfig({ testTimeout: 10_000 + numRuns * 2_000 });

/** Tools with effects: each executed call is counted. */
class LedgerTools {
  readonly executed: unknown[] = [];

  @Tool({ description: 'Adds.', input: z.object({ a: z.number(), b: z.number() }) })
  add(sum: { a: number; b: number }): number {
    this.executed.push(sum);
    return sum.a + sum.b;
  }

  @Tool({ description: 'Notes.', input: z.object({ text: z.string(), list: z.array(z.unknown()) }) })
  note(note: { text: string; list: unknown[] }): string {
    this.executed.push(note);
    return 'noted';
  }

  @Tool({ description: 'Reads the clock.', input: z.object({}) })
  now(): string {
    this.executed.push('now');
    return 'noon';
  }
}

let llm: FakeLlm;
let jackdaw: Jackdaw;
let tools: LedgerTools;
let chats = 0;

beforeAll(async () => {
  llm = await FakeLlm.start();
  const env = { ...llm.envOf('openai-compatible'), LLM_MODEL: 'm-1' };
  jackdaw = await startJackdaw({ env, tools: [LedgerTools] });
  tools = jackdaw.app.get(LedgerTools);
});
beforeEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

/** A chat whose model sends these replies in this form: its turn, events, usage and executed calls. */
async function chat(replies: readonly LogicalReply[], form: OpenAiVariant, isStreaming: boolean) {
  const sessionId = `chat-${++chats}`;
  tools.executed.length = 0;
  llm.reply(
    ...replies.map((reply, turn) => ({
      chunks: isStreaming ? toOpenAiStream(reply, form, turn) : toOpenAiBody(reply, form, turn),
      type: isStreaming ? 'text/event-stream' : 'application/json',
    })),
  );
  const runId = isStreaming
    ? await streamed(sessionId)
    : String((await jackdaw.chat({ query: 'go', sessionId })).headers.get('x-run-id'));
  const hasUsage = form.usage !== 'absent';
  return {
    turn: withPlaces(await jackdaw.messages(sessionId)),
    events: eventsOf(await jackdaw.events(runId), hasUsage),
    executed: tools.executed.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
  };
}

async function streamed(sessionId: string): Promise<string> {
  const stream = await jackdaw.stream({ query: 'go', sessionId });
  await stream.all();
  const shown = stream.events.flatMap(({ data }) => (data.type === 'message.delta' ? [data.text] : []));
  const completed = stream.events.flatMap(({ data }) => (data.type === 'message.completed' ? [data.text] : []));
  expect(shown.join('')).toBe(completed.join(''));
  return stream.runId;
}

/** The journaled events, without values that differ from run to run; calls by their place instead of their id. */
function eventsOf(events: readonly SseEvent[], hasUsage: boolean): unknown[] {
  const places = new Map<string, string>();
  const found = events.flatMap(({ data }) => {
    const { run_id: _run, session_id: _session, usage, ...rest } = data as Record<string, unknown>;
    if (!hasUsage && rest['type'] === 'usage') return [];
    return [{ ...rest, ...(hasUsage && { usage }) }];
  });
  return JSON.parse(JSON.stringify(found), (key, value: unknown) => {
    if (key.endsWith('_ms') || key === 'created_at') return undefined;
    return replaced(places, key, value);
  }) as unknown[];
}

function withPlaces(messages: readonly unknown[]): unknown {
  const places = new Map<string, string>();
  return JSON.parse(JSON.stringify(messages), (key, value: unknown) => replaced(places, key, value));
}

/** Numbers ids in the order in which they occur, and parses arguments. */
function replaced(places: Map<string, string>, key: string, value: unknown): unknown {
  if (key === 'arguments' && typeof value === 'string') return JSON.parse(value);
  if (!['id', 'call_id', 'tool_call_id'].includes(key) || typeof value !== 'string') return value;
  if (!places.has(value)) places.set(value, `call ${places.size}`);
  return places.get(value);
}

describe('a chat with a provider that sends any form of its replies', () => {
  it('has the same turn, events and usage, executes each call once, and sends unique ids', async () => {
    const replies = tuple(array(callingReply, { minLength: 1, maxLength: 2 }), answerReply);
    await assert(
      asyncProperty(replies, openAiVariant, boolean(), async ([calling, answer], form, isStreaming) => {
        const script = [...calling, answer];
        const expected = await chat(script, documented(form), isStreaming);
        const found = await chat(script, form, isStreaming);
        expect(found).toEqual(expected);
        expect(found.executed).toHaveLength(calling.flatMap(({ calls }) => calls).length);
        const sent = llm.lastRequest.messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
        expect(new Set(sent).size).toBe(found.executed.length);
      }),
      { numRuns, endOnFailure: true },
    );
  });
});

/** The documented form; without usage and with ids that repeat in every reply, where the other form has these. */
function documented({ id, usage }: OpenAiVariant): OpenAiVariant {
  return {
    ...DOCUMENTED,
    id: id === 'given' ? id : 'repeated',
    usage: usage === 'absent' ? usage : DOCUMENTED.usage,
  };
}
