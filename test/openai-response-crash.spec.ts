import { describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { gate } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';

describe('a stream of a response', () => {
  const world = ProcessWorld.prepare();

  it('continues after its position when the server was killed', async () => {
    const open = gate();
    world.llm
      .reply({ text: 'one two three four', stallAfter: 3 })
      .reply({ gate: open.opened, text: 'one two three four' });
    const first = await world.start();
    const before = new OpenAI({ baseURL: `${first.url}/v1`, apiKey: 'none', maxRetries: 0 });
    const stream = await before.responses.create({ model: 'default', input: 'count', stream: true, background: true });
    let [id, text, last] = ['', '', 0];
    for await (const event of stream) {
      last = event.sequence_number;
      if (event.type === 'response.created') id = event.response.id;
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (text.includes('two')) break;
    }
    await first.kill();
    const second = await world.start();
    await world.llm.waitForRequest(2);
    open.open();
    const after = new OpenAI({ baseURL: `${second.url}/v1`, apiKey: 'none' });
    const types: string[] = [];
    for await (const event of await after.responses.retrieve(id, { stream: true, starting_after: last })) {
      types.push(event.type);
      expect(event.sequence_number).toBeGreaterThan(last);
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    expect(text).toBe('one two three four');
    expect(types).not.toContain('response.output_item.added');
    expect(types.slice(-2)).toEqual(['response.output_item.done', 'response.completed']);
  });
});
