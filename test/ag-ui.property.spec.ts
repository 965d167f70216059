import { expect, it } from 'vitest';
import { assert, asyncProperty } from 'fast-check';
import { AgUiEventMapper } from '../src/client-api/ag-ui/ag-ui-event.mapper.js';
import type { ClientWait } from '../src/client-api/interrupts/interrupt.js';
import type { AgUiEvent } from '../src/client-api/ag-ui/ag-ui-event.types.js';
import type { AgUiMessage } from '../src/client-api/ag-ui/ag-ui-input.schema.js';
import type { RunEvent } from '../src/run/event/run-event.types.js';
import { type AgUiClient, describeAgUi } from './support/ag-ui-clients.js';
import { type Part, responses, type Run, RUN_ID, runs } from './support/ag-ui-runs.js';

const QUESTION: AgUiMessage = { id: 'q1', role: 'user', content: 'Hello' };

describeAgUi('the events of AG-UI for any run', (client: AgUiClient) => {
  /** The error of the client's check of the order. */
  function orderFault(events: readonly AgUiEvent[]): unknown {
    let fault: unknown;
    client
      .from(events)
      .pipe(client.verifyEvents())
      .subscribe({ error: (error: unknown) => (fault = error) });
    return fault;
  }

  /** Maps the events of one response. */
  function map({ events, wait }: Part, learned: readonly RunEvent[], messages: readonly AgUiMessage[]): AgUiEvent[] {
    const version = client.isCurrent && { protocolVersion: '1.0' };
    const input = { threadId: 't', runId: 'r', state: undefined, ...version };
    const mapper = new AgUiEventMapper({ runId: RUN_ID, input, messages });
    for (const event of learned) mapper.learn(event);
    const sent = [...mapper.start(), ...events.flatMap((event) => mapper.take(event, wait))];
    expect(mapper.isOver).toBe(true);
    return JSON.parse(JSON.stringify(sent)) as AgUiEvent[];
  }

  /** Applies events as the client does. @returns its messages */
  async function apply(sent: readonly AgUiEvent[], messages: readonly AgUiMessage[]): Promise<readonly AgUiMessage[]> {
    class Replay extends client.AbstractAgent {
      run(): unknown {
        return client.from(sent);
      }
    }
    const agent = new Replay({ initialMessages: messages });
    await agent.runAgent();
    return agent.messages as unknown as readonly AgUiMessage[];
  }

  /** The messages of a client that receives the responses of a run. */
  async function receive(run: Run): Promise<readonly AgUiMessage[]> {
    const learned: RunEvent[] = [];
    let messages: readonly AgUiMessage[] = [QUESTION];
    for (const part of responses(run)) {
      const sent = map(part, learned, messages);
      expect(orderFault(sent)).toBeUndefined();
      for (const event of sent) client.EventSchemas.parse(event);
      learned.push(...part.events);
      messages = withResults(await apply(sent, messages), part.wait);
    }
    return messages;
  }

  it('are in a valid order, and each is of a valid shape', async () => {
    const check = asyncProperty(runs, async (run) => {
      expect((await receive(run)).length).toBeGreaterThan(0);
    });
    await assert(check, { numRuns: 150 });
  });

  it('give the client each complete text, and one result for each call', async () => {
    const check = asyncProperty(runs, async (run) => {
      const messages = await receive(run);
      expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
      for (const [index, { text: whole }] of run.replies.entries()) {
        const own = messages.filter(({ id }) => id.startsWith(`msg_${RUN_ID}_${index + 1}`));
        const texts = own.map(({ content }) => content);
        expect(whole.trim() === '' || texts.includes(whole)).toBe(true);
      }
      const results = messages.flatMap(({ toolCallId }) => toolCallId ?? []);
      const calls = messages.flatMap(({ toolCalls }) => toolCalls ?? []).map(({ id }) => id);
      const open = run.end === 'closed' ? calls.filter((id) => !results.includes(id)) : [];
      expect([...results, ...open].toSorted()).toEqual(calls.toSorted());
    });
    await assert(check, { numRuns: 150 });
  });

  it('give the client the answer of a complete run, as its last text if no part of another text was sent', async () => {
    const complete = runs.map((run): Run => ({ ...run, end: 'completed' }));
    const check = asyncProperty(complete, async (run) => {
      const messages = (await receive(run)).filter(
        ({ role, content }) => role === 'assistant' && content !== undefined,
      );
      const texts = messages.map(({ content }) => content);
      const answer = run.result ?? run.replies.at(-1)!.text;
      const isWhole = run.replies.every(({ attempts }) => attempts.length === 0);
      expect(answer.trim() === '' || texts.slice(isWhole ? -1 : 0).includes(answer)).toBe(true);
    });
    await assert(check, { numRuns: 150 });
  });

  it('show a client before an interrupt the messages that it has', async () => {
    const check = asyncProperty(runs, async (run) => {
      let messages: readonly AgUiMessage[] = [QUESTION];
      const learned: RunEvent[] = [];
      for (const part of responses(run)) {
        const sent = map(part, learned, messages);
        const before = await apply(
          sent.filter(({ type }) => type !== 'MESSAGES_SNAPSHOT'),
          messages,
        );
        const snapshot = sent.find((event) => event.type === 'MESSAGES_SNAPSHOT');
        expect(snapshot?.messages ?? before).toEqual(before);
        learned.push(...part.events);
        messages = withResults(before, part.wait);
      }
    });
    await assert(check, { numRuns: 150 });
  });
});

/** The messages that a client adds after its tools. */
function withResults(messages: readonly AgUiMessage[], wait: ClientWait | undefined): readonly AgUiMessage[] {
  if (!wait || !('calls' in wait)) return messages;
  const results = wait.calls.map((id) => ({ id: `own ${id}`, role: 'tool', toolCallId: id, content: 'x' }));
  return [...messages, ...results];
}
