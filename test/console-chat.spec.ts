import { afterAll, beforeAll, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator } from 'playwright-core';
import { Database } from '../src/persistence/index.js';
import { describeBrowser } from './support/browser.js';
import { ConsolePage } from './support/console-page.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';
import { WaitingTools } from './support/waiting.tool.js';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SCRIPT = "const seen = await tools.look({ text: 'Rome' });\nreturn [seen];";
const MODEL = { provider: 'openai', name: 'gpt-4o' };
const run = promisify(execFile);

let llm: FakeLlm;
let jackdaw: Jackdaw;

/** Repeats the question, and the result of a tool. */
function reply({ messages }: FakeRequest): FakeReply {
  const last = messages.at(-1)!;
  const text = JSON.stringify(last.content);
  if (last.role === 'tool') return { text: `result: ${text}` };
  if (text.includes('script')) return { calls: [{ name: 'run_script', arguments: { script: SCRIPT } }] };
  if (text.includes('look')) return { calls: [{ name: 'look', arguments: { text: 'Oslo' } }] };
  return { text: `re: ${text}`, reasoning: 'The user asks.' };
}

beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
  llm.always(reply);
  const agents = [
    { name: 'default', model: MODEL },
    { name: 'coder', model: MODEL, codeMode: true },
  ];
  jackdaw = await startJackdaw({ llm, tools: [new WaitingTools()], options: { agents } });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describeBrowser('a conversation in the console', (browser) => {
  async function asked(query: string): Promise<{ view: ConsolePage; answer: Locator }> {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await view.go('chat');
    await view.page.getByLabel('Message').fill(query);
    await view.page.getByRole('button', { name: 'Send' }).click();
    const answer = view.page.locator('.answer', { hasText: 're:' }).last();
    await view.page.getByRole('button', { name: 'Edit and retry' }).waitFor();
    return { view, answer };
  }

  /** Closes a page. @returns its faults */
  async function closed(view: ConsolePage): Promise<readonly string[]> {
    await view.close();
    return view.faults;
  }

  it('shows reasoning and tool calls, which open', async () => {
    const { view } = await asked('look at Oslo');
    const call = view.page.locator('details.call', { hasText: 'look' });
    await call.locator('summary').click();
    await call.getByRole('region', { name: 'Result' }).filter({ hasText: 'seen Oslo' }).waitFor();
    expect(await closed(view)).toEqual([]);
  });

  it('shows the image of a question, also after a reload and in its session', async () => {
    const { body } = await jackdaw.chat({ query: 'What is this?', images: [{ url: PIXEL }] });
    const view = await ConsolePage.open(browser(), jackdaw.url);
    const image = view.page.getByRole('img', { name: 'Image' });
    await view.go(`chat/${String(body['session_id'])}`);
    await view.page.locator('.question', { hasText: 'What is this?' }).waitFor();
    await expect.poll(() => image.getAttribute('src')).toBe(PIXEL);
    await view.go(`sessions/${String(body['session_id'])}`);
    await view.page.locator('.card', { hasText: 'What is this?' }).first().waitFor();
    await expect.poll(() => image.getAttribute('src')).toBe(PIXEL);
    expect(await closed(view)).toEqual([]);
  });

  it('stops an answer', async () => {
    const held = gate();
    llm.reply({ gate: held.opened, text: 'late' });
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('chat');
    await view.page.getByLabel('Message').fill('wait');
    await view.page.keyboard.press('Enter');
    await view.page.getByRole('button', { name: 'Stop' }).click();
    await view.page.locator('.badge.cancelled').waitFor();
    held.open();
    expect(await closed(view)).toEqual([]);
  });

  it('retries another question in a new branch of the session', async () => {
    const { view } = await asked('the first');
    await view.page.waitForURL(/#\/chat\/.+/);
    const before = view.page.url();
    await view.page.getByRole('button', { name: 'Edit and retry' }).click();
    await view.page.getByLabel('Message').first().fill('the second');
    await view.page.getByRole('button', { name: 'Retry in a new branch' }).click();
    await view.page.locator('.question', { hasText: 'the second' }).waitFor();
    await expect.poll(() => view.page.url()).not.toBe(before);
    await expect.poll(() => view.page.locator('.question').count()).toBe(1);
    await view.page.goto(before);
    await view.page.locator('.question', { hasText: 'the first' }).waitFor();
    expect(await closed(view)).toEqual([]);
  });

  it('is copied as commands that ask the same', async () => {
    const question = `It's "6 * 7" & more?`;
    const { view } = await asked(question);
    const clipboard = (): Promise<string> => view.page.evaluate<string>('navigator.clipboard.readText()');
    // The label "Copied" disappears after 1.5 s, and that of one button may still be visible when the next is clicked.
    const copied = async (name: string, start: string): Promise<string> => {
      await view.page.getByRole('button', { name }).click();
      await expect.poll(clipboard).toMatch(new RegExp(`^${start}`));
      return clipboard();
    };
    const curl = await copied('Copy as curl', 'curl ');
    // Prints the last argument, as the shell passes it to curl.
    const { stdout: body } = await run('sh', ['-c', `curl() { for last; do :; done; printf %s "$last"; }; ${curl}`]);
    expect(curl).toContain(`'${jackdaw.url}/api/agent/chat'`);
    expect(await jackdaw.chat(JSON.parse(body))).toMatchObject({ status: 200, body: { is_complete: true } });
    const program = await copied('Copy as TypeScript', 'import ');
    const { stdout: answer } = await run(process.execPath, ['--input-type=module', '--eval', program]);
    expect(answer).toContain(`re: ${JSON.stringify(question)}`);
    expect(await closed(view)).toEqual([]);
  });

  it('is answered by the chosen model with the chosen effort', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('chat');
    await view.page.getByLabel('Model', { exact: true }).fill('gpt-5');
    await view.page.getByLabel('Reasoning effort').selectOption('low');
    await view.page.getByLabel('Message').fill('Which model?');
    await view.page.keyboard.press('Enter');
    await view.page.locator('.prose', { hasText: 'Which model?' }).waitFor();
    expect(llm.requests.at(-1)!.model).toBe('gpt-5');
    expect(JSON.stringify(llm.requests.at(-1))).toContain('"low"');
    expect(await closed(view)).toEqual([]);
  });

  it('shows a script with its calls, in the chat and in the steps of the run', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('chat');
    await view.page.getByLabel('Agent').selectOption('coder');
    await view.page.getByLabel('Message').fill('by a script');
    await view.page.getByRole('button', { name: 'Send' }).click();
    await view.page.locator('.prose', { hasText: 'result:' }).waitFor();
    const call = view.page.locator('details.call', { hasText: 'run_script' });
    await call.locator('summary').first().click();
    await expect.poll(() => call.locator('pre').first().innerText()).toBe(SCRIPT);
    await call.locator('details.call', { hasText: 'look' }).locator('summary').click();
    await call.locator('pre', { hasText: 'seen Rome' }).first().waitFor();
    await view.page.getByRole('link', { name: 'Open run' }).last().click();
    const steps = view.page.getByRole('list', { name: 'Steps' });
    await steps.getByRole('button', { name: /tool:1:1\.1/ }).waitFor();
    await steps
      .getByRole('button', { name: /tool:1:1(?!\.)/ })
      .first()
      .click();
    const detail = view.page.getByRole('region', { name: 'tool:1:1', exact: true });
    await detail.locator('pre', { hasText: 'tools.look' }).waitFor();
    await detail.locator('details.call', { hasText: 'tool:1:1.1' }).locator('summary').click();
    await detail.locator('pre', { hasText: 'seen Rome' }).first().waitFor();
    expect(await closed(view)).toEqual([]);
  });

  it('forks from a tool call with another result, and shows both side by side', async () => {
    const { body } = await jackdaw.chat({ query: 'look at Oslo' });
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go(`runs/${String(body['run_id'])}`);
    await view.page
      .getByRole('list', { name: 'Steps' })
      .getByRole('button', { name: /tool:1:1/ })
      .click();
    await view.page.getByRole('button', { name: 'Fork from this step' }).click();
    await view.page.getByLabel('Tool result').fill('seen Bergen');
    await view.page.getByRole('button', { name: 'Start fork' }).click();
    await view.page.waitForURL(new RegExp(`/with/${String(body['run_id'])}`));
    const [fork, origin] = [view.page.locator('.page').first(), view.page.locator('.page').last()];
    await fork.locator('.prose', { hasText: 'seen Bergen' }).waitFor();
    await origin.locator('.prose', { hasText: 'seen Oslo' }).waitFor();
    expect(await closed(view)).toEqual([]);
  });

  it('marks a request that differs from the one that was sent', async () => {
    const { body } = await jackdaw.chat({ query: 'same?' });
    const id = String(body['run_id']);
    const sql = "UPDATE run_step SET request_hash = 'another' WHERE run_id = ?";
    await jackdaw.app.get(Database).commit([{ sql, params: [id] }]);
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go(`runs/${id}`);
    await view.page.getByRole('list', { name: 'Steps' }).getByRole('button').first().click();
    await view.page.getByText('Request to the provider').click();
    await view.page.getByText('Differs from the request that was sent').waitFor();
    expect(await closed(view)).toEqual([]);
  });
});
