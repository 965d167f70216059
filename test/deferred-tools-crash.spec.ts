import { describe, expect, it } from 'vitest';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { ProcessWorld } from './support/process-world.js';
import { doneIn } from './support/step-script.js';

const world = ProcessWorld.prepare();
/** An agent that can see one tool beside the search. */
const agent = (limits: object) => [{ name: 'a', model: { provider: 'openai', name: 'm1' }, limits }];
const AGENTS = JSON.stringify(agent({ maxTools: 2 }));

const namesIn = ({ tools = [] }: FakeRequest) => tools.map((tool) => tool.function.name);

/** Finds two tools in one reply and one in the next, then calls one of them. */
function script(request: FakeRequest): FakeReply {
  const find = (query: string) => ({ name: 'find_tools', arguments: { query, limit: 1 } });
  switch (doneIn(request)) {
    case 0:
      return { calls: [find('approved_step'), find('idempotent_step')] };
    case 2:
      return { calls: [find('once_step')] };
    case 3:
      return { calls: [{ name: 'idempotent_step', arguments: { step: 1 } }] };
    default:
      return { text: 'done' };
  }
}

describe('kill -9 after the model has found deferred tools', () => {
  it('resumes with the same tools, and searches nothing again', async () => {
    world.llm.always(script);
    const first = await world.start({ AGENTS, BLOCK_AT: 'idempotent_step 1' });
    const stream = await first.stream({ query: 'x' });
    await first.waitForLine('performing idempotent_step 1');
    await first.kill();
    // The limits in force are those of the run's definition.
    const second = await world.start({ AGENTS: JSON.stringify(agent({})) });
    const events = await second.events(stream.runId);
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'done' } });
    const lists = world.llm.requests.map(namesIn);
    expect(lists).toHaveLength(4);
    expect(lists[0]).toHaveLength(2);
    expect(lists[0]!.at(-1)).toBe('find_tools');
    expect(lists[1]).toEqual([...lists[0]!, 'approved_step', 'idempotent_step']);
    expect(lists[2]).toEqual([...lists[1]!, 'once_step']);
    const tools = world.llm.requests.map((request) => JSON.stringify(request.tools));
    expect(tools[3]).toBe(tools[2]);
    const searches = events.filter(({ event, data }) => event === 'tool.completed' && data['tool'] === 'find_tools');
    expect(searches).toHaveLength(3);
    expect(world.effects()).toEqual(['idempotent_step 1', 'idempotent_step 1']);
  });
});
