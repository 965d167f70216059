import { afterAll, beforeAll, expect, it } from 'vitest';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database } from '../src/persistence/index.js';
import { keyHolder } from './support/api-keys.js';
import { describeBrowser } from './support/browser.js';
import { ConsolePage } from './support/console-page.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { gate, newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { buildIfStale } from './support/process.js';
import { WaitingTools } from './support/waiting.tool.js';

const READ = { description: 'Reads a file.', annotations: { readOnlyHint: true } };
const READ_ALL = { ...READ, description: 'Reads a file, and sends it.' };
const POEM = {
  name: 'poem',
  input: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] },
  nodes: [
    { id: 'draft', type: 'llm' as const, prompt: 'Draft {{input.topic}}' },
    { id: 'polish', type: 'llm' as const, prompt: 'Polish {{draft.response}}' },
  ],
};

const folder = newFolder();
const definitions = join(folder, 'tools.json');
const tools = new WaitingTools();
let polished = gate();
let llm: FakeLlm;
let jackdaw: Jackdaw;

function reply({ messages }: FakeRequest): FakeReply {
  const text = String(messages.findLast(({ role }) => role === 'user')?.content);
  if (text === 'fail') return { status: 400, body: { error: { message: 'Bad model.' } } };
  if (text.startsWith('Polish')) return { gate: polished.opened, text: 'polished' };
  return { text: `re: ${text}`, usage: [100, 10] };
}

async function start(serverVersion: string, definition: Readonly<Record<string, unknown>>): Promise<void> {
  writeFileSync(definitions, JSON.stringify({ serverVersion, tools: [listed('read', definition)] }));
  const mcpServers = [scripted('files', { toolsFile: definitions }, { trusted: true, pins: 'hold' })];
  jackdaw = await startJackdaw({
    llm,
    tools: [tools],
    dataDir: join(folder, 'data'),
    env: { ACCESS_LOG: 'on', BUDGET_DAY: 'tokens=5000', AGENT_MEMORY_MAX_MESSAGES: '4' },
    options: { mcpServers, workflows: [POEM] },
  });
  await untilStatus(jackdaw, 'files');
}

beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
  llm.always(reply);
  await start('1', READ);
  await jackdaw.stop();
  await start('2', READ_ALL);
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
  rmSync(folder, { recursive: true });
});

describeBrowser('the pages of the console', (browser) => {
  async function open(place: string): Promise<ConsolePage> {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go(place);
    return view;
  }

  /** Closes a page. @returns its faults */
  async function closed(view: ConsolePage): Promise<readonly string[]> {
    await view.close();
    return view.faults;
  }

  it('lead from each number of the overview to its list', async () => {
    await jackdaw.chat({ query: 'fail' });
    const view = await open('home');
    const figure = view.page.getByRole('link', { name: 'failed' }).first();
    const failed = Number(await figure.locator('b').innerText());
    await figure.click();
    await view.page.waitForURL(/status=failed/);
    await view.page
      .locator('.run-item')
      .nth(failed - 1)
      .waitFor();
    await expect.poll(() => view.page.locator('.run-item').count()).toBe(failed);
    await view.go('home');
    await view.page
      .getByRole('link', { name: /^[A-Z_]+ · 1$/ })
      .first()
      .click();
    await view.page.waitForURL(/code=[A-Z_]+/);
    await view.page.locator('.run-item', { hasText: 'fail' }).waitFor();
    for (const part of ['database', 'mcp']) {
      await view.go('home');
      await view.page.getByRole('cell', { name: part, exact: true }).waitFor();
    }
    expect(await closed(view)).toEqual([]);
  });

  it('find a run among 5,000 by the text of its question, and by the keyboard', async () => {
    const { body } = await jackdaw.chat({ query: 'a needle' });
    const { rows } = await copiesOf(String(body['run_id']), 5_000);
    const view = await open('runs');
    await view.settled();
    expect(rows).toBe(5_000);
    expect(await view.page.locator('.run-item').count()).toBeLessThan(60);
    await view.page.getByLabel('Text of the question').fill('a needle');
    await view.page.keyboard.press('Enter');
    await view.page.locator('.run-item', { hasText: 'a needle' }).first().waitFor();
    await view.page.locator('.run-item').first().focus();
    await view.page.keyboard.press('ArrowDown');
    await view.page.keyboard.press('ArrowUp');
    await view.page.keyboard.press('Enter');
    await view.page.locator('.question', { hasText: 'a needle' }).waitFor();
    expect(await closed(view)).toEqual([]);
  });

  it('show the memory of a session, pin a turn, export and delete it', async () => {
    for (const query of ['one', 'two', 'three', 'four']) await jackdaw.chat({ query, sessionId: 'long' });
    const view = await open('sessions/long');
    const memory = view.page.locator('section', { hasText: 'Memory of the last run' }).first();
    await expect.poll(() => memory.innerText()).toMatch(/sliding_window[\s\S]*Messages left out\s*[1-9]/);
    await view.page.getByRole('button', { name: 'Pin' }).first().click();
    await view.page.getByText('pinned').waitFor();
    expect((await jackdaw.messages('long'))[0]).toMatchObject({ turn: 1, is_pinned: true });
    await view.page.getByRole('button', { name: 'Unpin' }).click();
    await view.page.getByText('pinned').waitFor({ state: 'detached' });
    const [file] = await Promise.all([
      view.page.waitForEvent('download'),
      view.page.getByRole('link', { name: 'Export' }).click(),
    ]);
    expect(readFileSync(await file.path(), 'utf8')).toContain('re: three');
    await view.page.getByRole('button', { name: 'Delete' }).click();
    await view.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await view.page.waitForURL(/#\/sessions$/);
    expect((await jackdaw.get('/api/sessions/long')).status).toBe(404);
    expect(await closed(view)).toEqual([]);
  });

  it('try a tool in a form of its schema, and switch it', async () => {
    const view = await open('tools/look');
    await view.page.getByLabel('text').fill('Oslo');
    await view.page.getByRole('button', { name: 'Call tool' }).click();
    await view.page.getByRole('region', { name: 'Result', exact: true }).filter({ hasText: 'seen Oslo' }).waitFor();
    await view.page.getByRole('button', { name: 'Disable' }).click();
    await view.page.getByText('disabled', { exact: true }).waitFor();
    expect((await jackdaw.get('/api/tools/look')).body['enabled']).toBe(false);
    await view.page.getByRole('button', { name: 'Enable' }).click();
    await view.page.getByText('enabled', { exact: true }).waitFor();
    expect(await closed(view)).toEqual([]);
  });

  it('show a changed definition of an MCP server beside the accepted one, and accept it', async () => {
    const view = await open('mcp');
    await view.page.getByRole('link', { name: 'files' }).click();
    const pending = view.page.getByRole('region', { name: 'read' });
    await pending
      .getByRole('region', { name: 'Accepted: /description' })
      .filter({ hasText: READ.description })
      .waitFor();
    await expect
      .poll(() => pending.getByRole('region', { name: 'Pending: /description' }).innerText())
      .toContain(READ_ALL.description);
    await pending.getByRole('button', { name: 'Accept this definition' }).click();
    await pending.waitFor({ state: 'detached' });
    await view.page.getByRole('button', { name: 'Reconnect' }).click();
    await view.page.getByText('ready').waitFor();
    expect(await closed(view)).toEqual([]);
  });

  it('start a workflow in a form, and show the state of its nodes live', async () => {
    polished = gate();
    const view = await open('workflows/poem');
    await view.page.getByLabel('topic').fill('jackdaws');
    await view.page.getByRole('button', { name: 'Start workflow' }).click();
    const row = (node: string) => view.page.getByRole('row', { name: node });
    await row('draft').getByText('completed').waitFor();
    await row('polish').getByText('running').waitFor();
    await expect.poll(() => view.page.locator('.graph-node.running').count()).toBe(1);
    polished.open();
    await row('polish').getByText('completed').waitFor();
    await expect.poll(() => view.page.locator('.graph-node.completed').count()).toBe(2);
    expect(await closed(view)).toEqual([]);
  });

  it('show usage by day, agent, model and session, and the remainder of a budget', async () => {
    await jackdaw.chat({ query: 'hello', sessionId: 'billed' });
    const view = await open('usage');
    await view.page.getByRole('region', { name: 'Budgets of the day' }).getByText('5,000 tokens').waitFor();
    const rows = view.page.getByRole('region', { name: 'Usage', exact: true });
    for (const [group, key] of [
      ['agent', 'default'],
      ['session', 'billed'],
      ['model', /gpt|fake|model/],
    ] as const) {
      await view.page.getByLabel('Group by').selectOption(group);
      await rows.getByRole('cell', { name: key }).first().waitFor();
    }
    expect(await closed(view)).toEqual([]);
  });

  it('create and revoke a key, and list who read what', async () => {
    const admin = keyHolder('ann', 'a', 'admin');
    const guarded = await startJackdaw({ llm, env: { API_KEYS: admin.entry, ACCESS_LOG: 'on' } });
    const view = await ConsolePage.open(browser(), guarded.url);
    await view.go('keys');
    await view.page.getByLabel('API key').fill(admin.key);
    await view.page.getByRole('button', { name: 'Log in' }).click();
    await view.page.getByRole('button', { name: 'Create key' }).click();
    const dialog = view.page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('build');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('Copy the key now').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await view.page.getByRole('row', { name: /build/ }).getByRole('button', { name: 'Revoke' }).click();
    await view.page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await view.page.getByRole('row', { name: /build/ }).getByText('revoked').waitFor();
    const { body } = await guarded.chat({ query: 'read me' }, admin.headers);
    await guarded.get(`/api/runs/${String(body['run_id'])}`, admin.headers);
    await view.go('access-log');
    await view.page
      .getByRole('link', { name: String(body['run_id']) })
      .first()
      .waitFor();
    expect(await closed(view)).toEqual([]);
    await guarded.stop();
  });
});

/** Copies of a run, each a second older, with another question. */
async function copiesOf(runId: string, count: number): Promise<{ rows: number }> {
  const columns = `tenant, principal, principal_id, kind, agent, status, epoch, attempts, loop_version, definition_hash, input,
    timeout_ms, finished_at, priority, summary`;
  const sql = `INSERT INTO run (id, created_at, preview, ${columns})
    SELECT ?, created_at - ?, 'hay', ${columns} FROM run WHERE id = ?`;
  const statements = Array.from({ length: count }, (_, n) => ({
    sql,
    params: [`hay-${n}`, (n + 1) * 1_000, runId],
    rows: 1,
  }));
  await jackdaw.app.get(Database).commit(statements);
  return { rows: statements.length };
}
