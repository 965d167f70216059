import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AgentFolder } from './support/agent-folder.js';
import { ProcessWorld } from './support/process-world.js';
import { doneIn } from './support/step-script.js';

const world = ProcessWorld.prepare();
const skill = (description: string, body: string) => `---\nname: refund\ndescription: ${description}\n---\n${body}\n`;

describe('kill -9 after a model has read a skill', () => {
  let folder: AgentFolder;
  beforeEach(() => (folder = new AgentFolder()));
  afterEach(() => folder.dispose());

  it('resumes with the former prompt and the text that was read, also if the files have changed', async () => {
    folder.write('refund/SKILL.md', skill('Pays back.', 'Pay 5 euros.'));
    const read = { name: 'read_skill', arguments: { name: 'refund' } };
    world.llm.always((request) => {
      const done = doneIn(request);
      if (done === 1) return { calls: [{ name: 'idempotent_step', arguments: { step: 1 } }] };
      return done < 3 ? { calls: [read] } : { text: 'done' };
    });
    const first = await world.start({ SKILLS_DIR: folder.path, BLOCK_AT: 'idempotent_step 1' });
    const stream = await first.stream({ query: 'x' });
    await first.waitForLine('performing idempotent_step 1');
    await first.kill();
    folder.write('refund/SKILL.md', skill('Pays nothing.', 'Pay 9 euros.'));
    folder.write('other/SKILL.md', skill('Is new.', 'New.').replace('refund', 'other'));
    const second = await world.start({ SKILLS_DIR: folder.path });
    const events = await second.events(stream.runId);
    expect(events.at(-1)).toMatchObject({ event: 'run.completed', data: { result: 'done' } });
    const { messages } = world.llm.lastRequest;
    expect(messages[0]).toEqual(world.llm.requests[0]!.messages[0]);
    expect(messages[0]!.content).toMatch(/\n- refund: Pays back\.$/);
    const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(results).toEqual(['Pay 5 euros.', 'did step 1', 'Pay 9 euros.']);
  });
});
