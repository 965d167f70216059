import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { WorkflowInput } from '../src/index.js';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';
import { WorkflowWorld } from './support/workflow-world.js';

const DOCUMENT = 'docs/workflows.md';
const [TRIAGE, BILL] = [...readFileSync(DOCUMENT, 'utf8').matchAll(/^```json\n(.*?)^```$/gms)].map(
  ([, json = '']) => JSON.parse(json) as WorkflowInput,
) as [WorkflowInput, WorkflowInput];

describe('the workflows of docs/workflows.md', () => {
  let folder: SnippetFolder;
  let world: WorkflowWorld;
  beforeAll(async () => {
    buildIfStale();
    folder = new SnippetFolder();
    const support = { name: 'support', instructions: 'I am the desk.', model: { provider: 'openai' } };
    world = await WorkflowWorld.begin([TRIAGE, BILL], { options: { agents: [support] } });
  });
  afterAll(async () => {
    await world.stop();
    folder.remove();
  });

  it('have the same form in code', async () => {
    const [code = ''] = snippetsOf(DOCUMENT);
    const file = await folder.compile(`${code}\nconsole.log(JSON.stringify(triage));`);
    const built = JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8' })) as WorkflowInput;
    const shape = ({ name, nodes }: WorkflowInput) => [name, nodes.map(({ id, type }) => `${id} ${type}`)];
    expect(shape(built)).toEqual(shape(TRIAGE));
  });

  it('answer a question, and refund after approval', async () => {
    world.say({ 'Is this': 'question', 'When?': 'Tomorrow.' });
    expect((await world.run('triage', { text: 'When?' })).body).toMatchObject({ output: { response: 'Tomorrow.' } });
    world.say({ 'Is this': 'Refund.' });
    const { body } = await world.run('triage', { text: 'It broke.', order: 'o-1' });
    expect(body['waiting']).toMatchObject([{ kind: 'approval', reason: 'Pay back? It broke.' }]);
    await world.jackdaw.post(`/api/runs/${String(body['run_id'])}/approve`, {});
    await world.jackdaw.events(String(body['run_id']));
    expect(world.steps.refunded).toEqual(['o-1']);
  });

  it('calculate a bill without a model, after approval', async () => {
    const { body } = await world.run('bill', { items: '12 + 30' });
    expect(body).toMatchObject({ status: 'waiting', waiting: [{ reason: 'Pay 42?' }] });
    await world.jackdaw.post(`/api/runs/${String(body['run_id'])}/approve`, {});
    await world.jackdaw.events(String(body['run_id']));
    expect((await world.jackdaw.get(`/api/runs/${String(body['run_id'])}`)).body).toMatchObject({
      status: 'completed',
      output: { result: '21' },
    });
  });
});
