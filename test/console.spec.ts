import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { keyHolder } from './support/api-keys.js';
import { describeBrowser } from './support/browser.js';
import { ConsolePage } from './support/console-page.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';
import { buildIfStale } from './support/process.js';
import { inShortForm } from './support/long-form.js';

const ANSWER = '# Result\n\nIt is **42**. <img src=x onerror=alert(1)> [site](https://example.com) \u202egnp.exe';
const ADMIN = keyHolder('ann', 'a', 'admin');
const VIEWER = keyHolder('vic', 'a', 'viewer');

const PAGES = [
  'home',
  'chat',
  'runs',
  'approvals',
  'sessions',
  'agents',
  'tools',
  'mcp',
  'workflows',
  'evals',
  'usage',
  'keys',
  'access-log',
  'about',
];

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm, tools: [new WaitingTools()] });
  llm.always({ text: ANSWER });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describeBrowser('the console', (browser) => {
  it('streams a chat, shows markup as text, and opens its run', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('chat');
    await view.page.getByLabel('Message').fill('What is 6 * 7?');
    await view.page.getByRole('button', { name: 'Send' }).click();
    await view.page.locator('.prose strong', { hasText: '42' }).waitFor();
    await expect.poll(() => view.page.locator('.prose').innerText()).toContain('<img src=x onerror=alert(1)>');
    await expect.poll(() => view.page.locator('.prose').innerText()).toContain('⟨U+202E⟩');
    expect(await view.page.locator('.prose img').count()).toBe(0);
    await view.page.getByRole('link', { name: 'Open run' }).click();
    await view.page.getByRole('list', { name: 'Steps' }).getByRole('button').first().click();
    await view.page.getByRole('region', { name: 'Result', exact: true }).waitFor();
    await view.page.getByText('Request to the provider').click();
    await view.page
      .getByRole('region', { name: 'Request to the provider' })
      .filter({ hasText: 'What is 6 * 7?' })
      .waitFor();
    expect(await view.page.getByText('Differs from').count()).toBe(0);
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it('continues a session after a reload', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('chat');
    await view.page.getByLabel('Message').fill('Remember this');
    await view.page.keyboard.press('Enter');
    await view.page.waitForURL(/#\/chat\/.+/);
    await view.page.reload();
    await view.page.locator('.prose strong', { hasText: '42' }).waitFor();
    await expect.poll(() => view.page.locator('.question').allInnerTexts()).toEqual(['Remember this']);
    await view.close();
  });

  it.each(
    inShortForm(2, [
      { language: 'en', theme: 'light', width: 1440 },
      { language: 'zh', theme: 'dark', width: 390 },
      { language: 'en', theme: 'dark', width: 390 },
      { language: 'zh', theme: 'light', width: 1440 },
    ] as const),
  )('has no violation of WCAG 2.2 AA in $language, $theme', async (options) => {
    const { body } = await jackdaw.chat({ query: 'hello' });
    const session = String(body['session_id']);
    const view = await ConsolePage.open(browser(), jackdaw.url, options);
    const found: Record<string, string[]> = {};
    const places = [`runs/${String(body['run_id'])}`, `chat/${session}`, `sessions/${session}`, 'tools/pay', ...PAGES];
    for (const place of places) {
      await view.go(place);
      await view.settled();
      found[place] = await view.violations();
    }
    expect(Object.values(found).flat()).toEqual([]);
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it('lists open requests, and approves by the keyboard alone', async () => {
    llm.reply({ calls: [{ name: 'pay', arguments: { to: 'bob', amount: 5 } }] }, { text: 'paid' });
    const { body } = await jackdaw.chat({ query: 'pay bob' });
    const runId = String(body['run_id']);
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('approvals');
    const button = view.page.getByRole('button', { name: 'Approve', exact: true });
    await button.waitFor();
    await view.page.locator('main').focus();
    while (!(await button.evaluate((element: { matches(selector: string): boolean }) => element.matches(':focus')))) {
      await view.page.keyboard.press('Tab');
    }
    await view.page.keyboard.press('Enter');
    await view.page.getByText('Nothing waits for a decision.').waitFor();
    await jackdaw.events(runId);
    expect((await jackdaw.get(`/api/runs/${runId}`)).body).toMatchObject({ status: 'completed', result: 'paid' });
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it('approves inside the chat, and continues the answer', async () => {
    llm.reply(
      { text: 'I try.', calls: [{ name: 'pay', arguments: { to: 'bob', amount: 5 } }] },
      { text: 'It is paid.' },
    );
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('chat');
    await view.page.getByLabel('Message').fill('pay bob');
    await view.page.getByRole('button', { name: 'Send' }).click();
    await view.page.getByRole('button', { name: 'Approve', exact: true }).click();
    await view.page.locator('.prose', { hasText: 'It is paid.' }).waitFor();
    await expect.poll(() => view.page.locator('.prose').allInnerTexts()).toEqual(['I try.', 'It is paid.']);
    await expect.poll(() => view.page.getByRole('button', { name: 'Approve', exact: true }).count()).toBe(0);
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it('returns the text of a question that no server received', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('chat');
    await view.page.getByLabel('Message').fill('Is it there?');
    await view.page.context().setOffline(true);
    await view.page.getByRole('button', { name: 'Send' }).click();
    await view.page.getByRole('alert').waitFor();
    await expect.poll(() => view.page.getByLabel('Message').inputValue()).toBe('Is it there?');
    await view.close();
  });

  it('forks a run with another message, and shows both side by side', async () => {
    const { body } = await jackdaw.chat({ query: 'first question' });
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go(`runs/${String(body['run_id'])}`);
    await view.page.getByRole('list', { name: 'Steps' }).getByRole('button').first().click();
    await view.page.getByRole('button', { name: 'Fork from this step' }).click();
    await view.page.getByLabel('Message').fill('second question');
    await view.page.getByRole('button', { name: 'Start fork' }).click();
    await view.page.locator('.question', { hasText: 'second question' }).waitFor();
    await view.page.locator('.question', { hasText: 'first question' }).waitFor();
    await expect.poll(() => view.page.url()).toContain(`/with/${String(body['run_id'])}`);
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it('shows new runs, other states and open decisions without a reload', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('runs');
    await view.settled();
    const held = gate();
    llm.reply({ gate: held.opened, text: 'live answer' });
    const { body } = await jackdaw.post('/api/agent/runs', { query: 'a live question' });
    const row = view.page.locator('.run-item', { hasText: 'a live question' });
    await row.getByText('Running').waitFor();
    held.open();
    await row.getByText('Completed').waitFor();
    await view.go(`runs/${String(body['run_id'])}`);
    await view.page.getByText('live answer').waitFor();
    const links = view.page.getByRole('link', { name: /^Approvals/ });
    const before = await links.innerText();
    llm.reply({ calls: [{ name: 'pay', arguments: { to: 'eve', amount: 5 } }] }, { text: 'paid' });
    const { body: waiting } = await jackdaw.chat({ query: 'pay eve' });
    await links.filter({ hasNotText: new RegExp(`^${before}$`) }).waitFor();
    await jackdaw.post(`/api/runs/${String(waiting['run_id'])}/deny`, {});
    await links.filter({ hasText: new RegExp(`^${before}$`) }).waitFor();
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it('has fewer than 60 rows of a run with 5,000 steps', async () => {
    const { body } = await jackdaw.chat({ query: 'many steps' });
    const runId = String(body['run_id']);
    const copy = `INSERT INTO run_step (run_id, name, tenant, kind, subject, result, epoch, created_at, started_at)
      SELECT run_id, ?, tenant, 'tool', 'echo', '{"success":true}', epoch, created_at + ?, created_at FROM run_step
      WHERE run_id = ? AND name = 'model:1'`;
    const rows = Array.from({ length: 5_000 }, (_, n) => ({ sql: copy, params: [`tool:1:${n + 1}`, n, runId] }));
    await jackdaw.app.get(Database).commit(rows);
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go(`runs/${runId}`);
    const list = view.page.getByRole('list', { name: 'Steps' });
    const rowsIn = () => list.locator('[data-row]').count();
    await list.getByText('tool:1:1', { exact: true }).waitFor();
    expect(await rowsIn()).toBeLessThan(60);
    for (const share of [0.5, 1]) {
      await list.evaluate((element: { scrollTop: number; scrollHeight: number }, part) => {
        element.scrollTop = element.scrollHeight * part;
      }, share);
      await list.getByText(share === 1 ? 'tool:1:5000' : 'tool:1:2500', { exact: true }).waitFor();
      expect(await rowsIn()).toBeLessThan(60);
    }
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it.each(['runs/none', 'sessions/none', 'tools/none', 'workflows/none', 'mcp/none'])(
    'names what %s lacks below a heading, once',
    async (place) => {
      const view = await ConsolePage.open(browser(), jackdaw.url);
      await view.go(place);
      await view.settled();
      await expect.poll(() => view.page.getByRole('alert').count()).toBe(1);
      await expect.poll(() => view.page.getByRole('heading', { name: 'none' }).count()).toBe(1);
      await view.close();
    },
  );

  it('opens a long conversation at its end, and shows a part of a long answer', async () => {
    const lines = Array.from({ length: 120 }, (_, n) => `line ${n}`).join('\n\n');
    llm.reply({ text: lines });
    const { body } = await jackdaw.chat({ query: 'a long answer' });
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go(`chat/${String(body['session_id'])}`);
    const atEnd = 'scrollY > 0 && document.documentElement.scrollHeight - scrollY - innerHeight < 50';
    await expect.poll(() => view.page.evaluate(atEnd)).toBe(true);
    await view.go(`runs/${String(body['run_id'])}`);
    const height = () =>
      view.page
        .locator('.prose')
        .evaluate((prose: { parentElement: { clientHeight: number } }) => prose.parentElement.clientHeight);
    await view.page.getByRole('button', { name: 'Show all' }).click();
    const all = await height();
    await view.page.getByRole('button', { name: 'Show less' }).click();
    await expect.poll(height).toBeLessThan(all / 5);
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it('works below a path prefix', async () => {
    const prefixed = await startJackdaw({ llm, env: { HTTP_PREFIX: '/team/agents' } });
    const view = await ConsolePage.open(browser(), `${prefixed.url}/team/agents`);
    await view.page.goto(`${prefixed.url}/team/agents/console`);
    await view.page.getByRole('heading', { name: 'Home' }).waitFor();
    await view.page.getByRole('cell', { name: 'database' }).waitFor();
    await expect.poll(() => view.page.url()).toBe(`${prefixed.url}/team/agents/console/`);
    expect(await view.page.getByRole('alert').count()).toBe(0);
    expect(view.faults).toEqual([]);
    await view.close();
    await prefixed.stop();
  });

  it('asks for a key, and shows a viewer no actions', async () => {
    const guarded = await startJackdaw({ llm, env: { API_KEYS: `${ADMIN.entry},${VIEWER.entry}` } });
    const { body } = await guarded.chat({ query: 'hello' }, ADMIN.headers);
    const view = await ConsolePage.open(browser(), guarded.url);
    await view.go('home');
    await view.page.getByLabel('API key').fill('wrong');
    await view.page.getByRole('button', { name: 'Log in' }).click();
    await view.page.getByRole('alert').waitFor();
    await view.page.getByLabel('API key').fill(VIEWER.key);
    await view.page.getByRole('button', { name: 'Log in' }).click();
    await view.page.getByRole('link', { name: 'Runs' }).waitFor();
    expect(await view.page.getByRole('link', { name: 'Chat' }).count()).toBe(0);
    await view.go(`runs/${String(body['run_id'])}`);
    await view.page.getByRole('list', { name: 'Steps' }).getByRole('button').first().click();
    expect(await view.page.getByRole('button', { name: 'Fork from this step' }).count()).toBe(0);
    await view.page.getByRole('button', { name: 'Log out' }).click();
    await view.page.getByLabel('API key').waitFor();
    expect(view.faults).toEqual([]);
    await view.close();
    await guarded.stop();
  });
});
