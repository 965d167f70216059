import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Arbitrary, array, assert, asyncProperty, constant, constantFrom, oneof, record, tuple } from 'fast-check';
import OpenAI, { APIError } from 'openai';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';

const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 25);
const CLIENT_TOOL = { type: 'function' as const, name: 'get_weather', parameters: { type: 'object' }, strict: false };

const text = constantFrom('', 'one', 'one two three', 'ä 你好 🙂 end', '# Title\n\n- item');
const call = constantFrom(
  { name: 'look', arguments: { text: 'x' } },
  { name: 'look', arguments: { wrong: 1 } },
  { name: 'unknown_tool', arguments: {} },
  { name: 'pay', arguments: { to: 'bob', amount: 5 } },
  { name: 'get_weather', arguments: { city: 'Oslo' } },
  { name: 'choose', arguments: { text: 'x' } },
);
const between: Arbitrary<FakeReply> = record({
  text,
  reasoning: constantFrom('', 'I think.'),
  calls: array(call, { minLength: 1, maxLength: 3 }),
});
const last: Arbitrary<FakeReply> = oneof(
  {
    weight: 3,
    arbitrary: record({ text: constantFrom('the end', 'two words'), reasoning: constantFrom('', 'Hm.') }),
  },
  { weight: 1, arbitrary: constant<FakeReply>({ status: 400, body: { error: { message: 'no' } } }) },
  { weight: 1, arbitrary: constant<FakeReply>({ text: 'cut off here', cutAfter: 2 }) },
  { weight: 1, arbitrary: constant<FakeReply>({ text: 'long', finishReason: 'length' }) },
);
const script = tuple(array(between, { maxLength: 3 }), last);

let llm: FakeLlm;
let jackdaw: Jackdaw;
let client: OpenAI;
beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm, tools: [new WaitingTools()], env: { LLM_MAX_ATTEMPTS: '1' } });
  client = new OpenAI({ baseURL: `${jackdaw.url}/v1`, apiKey: 'none', maxRetries: 0 });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

async function play(replies: readonly FakeReply[]): Promise<void> {
  llm.reset();
  llm.reply(...replies);
  llm.always({ text: 'more' });
}

it('streams of responses keep the order that the SDK checks, and end with the response that is stored', async () => {
  await assert(
    asyncProperty(script, async ([replies, end]) => {
      await play([...replies, end]);
      const events: OpenAI.Responses.ResponseStreamEvent[] = [];
      const stream = client.responses.stream({ model: 'default', input: 'go', tools: [CLIENT_TOOL] });
      stream.on('event', (event) => void events.push(event));
      // The helper throws for events in a wrong order; a failure before the first part is an error of the API.
      const response = await stream.finalResponse().catch((error: unknown) => {
        if (error instanceof APIError && events.length === 0) return null;
        throw error;
      });
      const numbers = events.map(({ sequence_number: number }) => number);
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      if (!response) return;
      const stored = await client.responses.retrieve(response.id);
      expect(stored.status).toBe(response.status);
      // The journal does not have the text of a reply that failed.
      const isWhole = stored.status !== 'failed';
      expect(isWhole ? stored.output : []).toEqual(isWhole ? response.output.map(plain) : []);
    }),
    { numRuns: RUNS },
  );
});

/** Without the members that the helper of the SDK adds. */
function plain(item: object): object {
  return JSON.parse(
    JSON.stringify(item, (key, value: unknown) => (key.startsWith('parsed') ? undefined : value)),
  ) as object;
}

it('streams of chat completions have the text of the answer, and one finish reason', async () => {
  await assert(
    asyncProperty(script, async ([replies, end]) => {
      await play([...replies, end]);
      const tools = [{ type: 'function' as const, function: { name: 'get_weather' } }];
      const messages = [{ role: 'user' as const, content: 'go' }];
      const body = {
        model: 'default',
        messages,
        tools,
        stream: true as const,
        stream_options: { include_usage: true },
      };
      const reasons: string[] = [];
      const read = async () => {
        for await (const { choices } of await client.chat.completions.create(body))
          if (choices[0]?.finish_reason) reasons.push(choices[0].finish_reason);
      };
      const failed = await read().then(
        () => false,
        (error: unknown) => error instanceof APIError || Promise.reject(error as Error),
      );
      expect(reasons).toHaveLength(failed ? 0 : 1);
    }),
    { numRuns: RUNS },
  );
});
