import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import { describeBrowser } from './support/browser.js';
import { ConsolePage } from './support/console-page.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';
import { beginHeld } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

const NOTHING = 'Nothing waits for a decision.';
const folder = newFolder();
const tools = new WaitingTools();
let llm: FakeLlm;
let jackdaw: Jackdaw;

/** Calls the tool that the user's message names, with the arguments after its name; then answers with the result. */
function reply({ messages }: FakeRequest): FakeReply {
  const last = messages.at(-1)!;
  if (last.role === 'tool') return { text: `result: ${String(last.content)}` };
  const [name = '', ...rest] = String(last.content).split(' ');
  return { calls: [{ name, arguments: JSON.parse(rest.join(' ')) as Record<string, unknown> }] };
}

function start(): Promise<Jackdaw> {
  return startJackdaw({ llm, tools: [tools], dataDir: folder });
}

beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
  llm.always(reply);
  jackdaw = await start();
});
beforeEach(() => tools.done.splice(0));
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
  rmSync(folder, { recursive: true });
});

describeBrowser('the inbox of the console', (browser) => {
  /** The run of a question, and its card in the inbox. */
  async function waiting(query: string): Promise<{ runId: string; view: ConsolePage; card: Locator }> {
    const { body } = await jackdaw.chat({ query });
    expect(body['status']).toBe('waiting');
    return { ...(await inbox()), runId: String(body['run_id']) };
  }

  async function inbox(): Promise<{ view: ConsolePage; card: Locator }> {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('approvals');
    return { view, card: view.page.locator('article section') };
  }

  /** Waits until the inbox is empty, and returns the answer of the run. */
  async function resultOf(runId: string, view: ConsolePage): Promise<unknown> {
    await view.page.getByText(NOTHING).waitFor();
    expect(view.faults).toEqual([]);
    await view.close();
    await jackdaw.events(runId);
    return (await jackdaw.get(`/api/runs/${runId}`)).body['result'];
  }

  it('approves a call', async () => {
    const { runId, view, card } = await waiting('pay {"to":"bob","amount":5}');
    await card.getByRole('button', { name: 'Approve', exact: true }).click();
    expect(await resultOf(runId, view)).toBe('result: paid 5 to bob');
    expect(tools.done).toEqual(['pay bob 5']);
  });

  it('denies a call, and returns the reason to the model', async () => {
    const { runId, view, card } = await waiting('pay {"to":"bob","amount":5}');
    await card.getByRole('button', { name: 'Deny' }).click();
    await card.getByLabel('Reason (optional)').fill('bob has left');
    await card.getByRole('button', { name: 'Deny' }).click();
    expect(await resultOf(runId, view)).toContain('bob has left');
    expect(tools.done).toEqual([]);
  });

  it('edits arguments in a form of the schema before it approves', async () => {
    const { runId, view, card } = await waiting('pay {"to":"bob","amount":5}');
    await card.getByRole('button', { name: 'Edit arguments' }).click();
    await card.getByLabel('amount').fill('7');
    await card.getByRole('button', { name: 'Approve with these arguments' }).click();
    expect(await resultOf(runId, view)).toMatch(/paid 7 to bob$/);
    expect(tools.done).toEqual(['pay bob 7']);
  });

  it('keeps a request whose edited arguments the server rejects, with its reason', async () => {
    const { runId, view, card } = await waiting('pay {"to":"bob","amount":5}');
    await card.getByRole('button', { name: 'Edit arguments' }).click();
    await card.getByLabel('amount').fill('-1');
    await card.getByRole('button', { name: 'Approve with these arguments' }).click();
    await view.page.getByRole('alert').filter({ hasText: 'amount' }).waitFor();
    expect(tools.done).toEqual([]);
    await card.getByLabel('amount').fill('1');
    await card.getByRole('button', { name: 'Approve with these arguments' }).click();
    expect(await resultOf(runId, view)).toMatch(/paid 1 to bob$/);
  });

  it('answers the question of a tool with one of its values', async () => {
    const { runId, view, card } = await waiting('choose {"text":"Oslo"}');
    await card.getByText('Which one for Oslo?').waitFor();
    await card.getByLabel('Value').selectOption('KL2');
    await card.getByRole('button', { name: 'Send answer' }).click();
    expect(await resultOf(runId, view)).toMatch(/^result: Oslo: KL2/);
  });

  it('refuses to answer', async () => {
    const { runId, view, card } = await waiting('hurry {"text":"Oslo"}');
    await card.getByRole('button', { name: 'Refuse to answer' }).click();
    expect(await resultOf(runId, view)).toMatch(/^result: /);
    expect(tools.done).toEqual([]);
  });

  it('approves several calls at once', async () => {
    const bodies = [await jackdaw.chat({ query: 'pay {"to":"ann","amount":1}' })];
    bodies.push(await jackdaw.chat({ query: 'pay {"to":"eve","amount":2}' }));
    const { view } = await inbox();
    const boxes = view.page.getByRole('checkbox');
    await boxes.nth(1).waitFor();
    for (const box of await boxes.all()) await box.check();
    await view.page.getByText('2 selected').waitFor();
    await view.page.locator('.head').getByRole('button', { name: 'Approve' }).click();
    expect(await resultOf(String(bodies[1]!.body['run_id']), view)).toBe('result: paid 2 to eve');
    await jackdaw.events(String(bodies[0]!.body['run_id']));
    expect(tools.done.toSorted()).toEqual(['pay ann 1', 'pay eve 2']);
  });

  it.each([
    { outcome: 'It succeeded', field: 'Result (JSON, optional)', text: '{"number":7}', result: /number.*7/ },
    { outcome: 'It failed', field: 'Error for the model', text: 'the mail bounced', result: /the mail bounced/ },
    { outcome: 'It did not happen: call again', result: /^result: sent hello$/ },
  ])('settles an unknown outcome: $outcome', async ({ outcome, field, text, result }) => {
    tools.isHolding = true;
    const run = await beginHeld(jackdaw, tools, { query: 'send {"text":"hello"}' });
    await jackdaw.stop();
    tools.isHolding = false;
    jackdaw = await start();
    const { view, card } = await inbox();
    await card.getByLabel('What happened').selectOption({ label: outcome });
    if (field !== undefined) await card.getByLabel(field).fill(text);
    await card.getByRole('button', { name: 'Settle' }).click();
    expect(await resultOf(run.id, view)).toMatch(result);
    expect(tools.done).toHaveLength(field === undefined ? 2 : 1);
  });
});
