import { newId } from '../../src/kernel/index.js';
import type { HostileWorld } from './hostile-world.js';
import type { Answer } from './jackdaw.js';

/** Sends a value to a server, and reads it back. Throws if the server refused it. */
type Exchange = (world: HostileWorld, value: unknown) => Promise<unknown>;

type Field = Readonly<Record<string, unknown>>;

/** Every place that accepts any JSON, with a way to read it back. Objects have a key of the value's own text. */
export const PLACES: Readonly<Record<string, Exchange>> = {
  'a tool’s arguments': async (world, value) => {
    const { result } = await done(world.post('/api/tools/echo/call', { arguments: { value } }));
    return (result as Field)['value'];
  },
  'a session’s metadata': async (world, value) => {
    const { id } = await done(world.post('/api/sessions', { metadata: { value } }));
    const { metadata } = await done(world.get(`/api/sessions/${String(id)}/metadata`));
    return (metadata as Field)['value'];
  },
  'new metadata of a session': async (world, value) => {
    const { id } = await done(world.post('/api/sessions'));
    await done(world.put(`/api/sessions/${String(id)}/metadata`, { metadata: { value } }));
    const { metadata } = await done(world.get(`/api/sessions/${String(id)}/metadata`));
    return (metadata as Field)['value'];
  },
  'metadata of a message': async (world, value) => {
    const { session_id: id } = await done(world.post('/api/agent/chat', { query: 'x', metadata: { value } }));
    const { messages } = await done(world.get(`/api/sessions/${String(id)}/messages`));
    return ((messages as Field[])[0]!['metadata'] as Field)['value'];
  },
  'metadata and messages of an imported session': async (world, value) => {
    const exported = { ...SESSION, session: { ...SESSION.session, metadata: { value } }, turns: [turnOf(value)] };
    const id = newId();
    await done(world.post('/api/sessions/import', { session: exported, id }));
    const { session, turns } = await done(world.get(`/api/sessions/${id}/export`));
    const [{ content, metadata }] = (turns as { messages: Field[] }[])[0]!.messages as [Field];
    const all = [(session as Field)['metadata'], metadata, { value: JSON.parse(String(content)) }];
    return all.every((one) => JSON.stringify(one) === JSON.stringify(all[0])) ? (all[0] as Field)['value'] : all;
  },
  'the input of a workflow': async (world, value) => {
    const { run_id: id } = await done(world.post('/api/workflows/give_back/runs', { input: { value }, wait: true }));
    const [{ output }] = (await done(world.get(`/api/runs/${String(id)}`)))['nodes'] as [{ output: { result: Field } }];
    return output.result['value'];
  },
  'a workflow’s input in its journal': async (world, value) => {
    const { run_id: id } = await done(world.post('/api/workflows/give_back/runs', { input: { value }, wait: true }));
    const { input } = await done(world.get(`/api/runs/${String(id)}/journal`));
    return ((input as Field)['input'] as Field)['value'];
  },
  'arguments that a person has edited': async (world, value) =>
    ((await answered(world, 'approve', { arguments: { value } })) as Field)['value'],
  'the answer to a tool’s question': async (world, value) =>
    ((await answered(world, 'input', { value })) as Field)['value'],
  'the result of a settled call': (world, value) => answered(world, 'settle', { outcome: 'succeeded', result: value }),
  'the result that a fork gives a call': async (world, value) => {
    const edit = { toolResult: value };
    const fork = await done(
      world.post(`/api/runs/${await ended(world, 'agent')}/fork`, { fromStep: 'tool:1:1', edit }),
    );
    return toolResult(world, fork['run_id']);
  },
  'a result that a fork gives a node': async (world, value) => {
    const edit = { output: { result: value } };
    const fork = await done(
      world.post(`/api/runs/${await ended(world, 'workflow')}/fork`, { fromStep: 'node:give', edit }),
    );
    await world.events(String(fork['run_id']));
    const { nodes } = await done(world.get(`/api/runs/${String(fork['run_id'])}`));
    return (nodes as { output: { result: unknown } }[])[0]!.output.result;
  },
};

const SESSION = { version: 1, session: { id: 'x', owner: 'x', created_at: 1, updated_at: 1, metadata: {} }, turns: [] };

function turnOf(value: unknown): unknown {
  const said = { role: 'user', content: JSON.stringify(value), metadata: { value } };
  return { run_id: newId(), status: 'completed', created_at: 1, messages: [said] };
}

/** One run for all values: a fork leaves it unchanged. */
const runs = new WeakMap<HostileWorld, Map<string, Promise<string>>>();

function ended(world: HostileWorld, kind: 'agent' | 'workflow'): Promise<string> {
  const known = runs.get(world) ?? new Map<string, Promise<string>>();
  runs.set(world, known);
  const run = known.get(kind) ?? world.ended(kind);
  known.set(kind, run);
  return run;
}

/** The result of the call that a run waited for. */
async function answered(world: HostileWorld, how: 'approve' | 'input' | 'settle', body: unknown): Promise<unknown> {
  const id = await world.waiting(`POST /api/runs/{id}/${how}`);
  await done(world.post(`/api/runs/${id}/${how}`, body));
  return toolResult(world, id);
}

async function toolResult(world: HostileWorld, runId: unknown): Promise<unknown> {
  await world.events(String(runId));
  const { tool_results: results } = await done(world.get(`/api/runs/${String(runId)}`));
  return (results as Field[])[0]!['result'];
}

async function done(answer: Promise<Answer>): Promise<Field> {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
}
