import { afterAll, beforeAll, expect, it } from 'vitest';
import { keyHolder } from './support/api-keys.js';
import { describeBrowser } from './support/browser.js';
import { ConsolePage } from './support/console-page.js';
import { evalReport } from './support/eval-reports.js';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';
import { WaitingTools } from './support/waiting.tool.js';
import { inShortForm } from './support/long-form.js';

const ADMIN = keyHolder('ann', 'a', 'admin');
const VIEWER = keyHolder('vic', 'a', 'viewer');
/** Markup, a change of direction, an invisible character, and a word without spaces. */
const HOSTILE = `<img src=x onerror=alert(1)> \u202egnp.exe\u202c pay\u200bpal ${'x'.repeat(300)}`;
const MODEL = { provider: 'openai', name: 'gpt-4o' };
const DECEPTIVE = /[\u202a-\u202e\u2066-\u2069\u200b]/;

let llm: FakeLlm;
let jackdaw: Jackdaw;
let places: string[];

function reply({ messages }: FakeRequest): FakeReply {
  const last = messages.at(-1)!;
  const text = String(last.content);
  if (last.role === 'tool') return { text: HOSTILE, reasoning: HOSTILE };
  if (text.startsWith('fail')) return { status: 400, body: { error: { message: HOSTILE } } };
  return { text: HOSTILE, calls: [{ name: text.split(' ', 1)[0]!, arguments: { text: HOSTILE } }] };
}

/** A run of each kind, and everything else that has texts of users, models and tools. */
async function seed(): Promise<string[]> {
  const ask = async (query: string, sessionId?: string) => {
    const { body } = await jackdaw.chat(
      { query: `${query} ${HOSTILE}`, ...(sessionId && { sessionId }) },
      ADMIN.headers,
    );
    return String(body['run_id']);
  };
  const [looked, failed, waiting] = [await ask('look', 's'), await ask('fail'), await ask('choose')];
  await jackdaw.post(
    `/api/runs/${looked}/feedback`,
    { score: 0, comment: HOSTILE, correction: HOSTILE },
    ADMIN.headers,
  );
  await jackdaw.post('/api/keys', { name: HOSTILE.slice(0, 90), role: 'user' }, ADMIN.headers);
  const [result] = evalReport().results;
  const results = [{ ...result, line: HOSTILE.slice(0, 200), input: HOSTILE, isPassed: false, error: HOSTILE }];
  const evals = [];
  for (let n = 0; n < 2; n++) {
    const { body } = await jackdaw.post('/api/evals', { report: evalReport({ name: 'e', results }) }, ADMIN.headers);
    evals.push(String(body['id']));
  }
  return [
    ...'home runs approvals sessions agents tools mcp workflows evals usage about'.split(' '),
    `runs/${looked}`,
    `runs/${looked}?tab=events`,
    `runs/${looked}?tab=json`,
    `runs/${failed}`,
    `runs/${waiting}`,
    `runs/${looked}/with/${failed}`,
    'sessions/s',
    'tools/look',
    'workflows/w',
    `evals/${evals[0]}`,
    `evals/${evals[0]}/with/${evals[1]}`,
  ];
}

beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
  llm.always(reply);
  jackdaw = await startJackdaw({
    llm,
    tools: [new WaitingTools()],
    env: { API_KEYS: `${ADMIN.entry},${VIEWER.entry}`, ACCESS_LOG: 'on' },
    options: {
      agents: [{ name: 'other', model: MODEL, description: HOSTILE, instructions: HOSTILE }],
      workflows: [
        { name: 'w', description: HOSTILE, nodes: [{ id: 'n', type: 'llm', description: HOSTILE, prompt: 'x' }] },
      ],
    },
  });
  places = await seed();
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describeBrowser('hostile data in the console', (browser) => {
  async function loggedIn(key: string, width = 1440): Promise<ConsolePage> {
    const view = await ConsolePage.open(browser(), jackdaw.url, { width });
    await view.go('home');
    await view.page.getByLabel('API key').fill(key);
    await view.page.getByRole('button', { name: 'Log in' }).click();
    await view.page.getByRole('heading', { name: 'Home' }).waitFor();
    return view;
  }

  it.each(inShortForm(1, [390, 1440]))(
    'stays text without deceptive characters, and moves no page sideways, at %i px',
    async (width) => {
      const view = await loggedIn(ADMIN.key, width);
      for (const place of [...places, 'chat/s', 'keys', 'access-log']) {
        await view.go(place);
        await view.settled();
        await view.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })");
        const html = await view.page.evaluate<string>("document.querySelector('main').innerHTML");
        expect([place, DECEPTIVE.exec(html)]).toEqual([place, null]);
        expect([place, await view.page.locator('main img').count()]).toEqual([place, 0]);
        expect([place, await view.page.evaluate('document.documentElement.scrollWidth')]).toEqual([place, width]);
      }
      expect(view.faults).toEqual([]);
      await view.close();
    },
  );

  it('offers a viewer no change on any page', async () => {
    const view = await loggedIn(VIEWER.key);
    const changes: string[] = [];
    view.page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(`${request.method()} ${request.url()}`);
    });
    for (const place of places) {
      await view.go(place);
      await view.settled();
      // The second time, those that the first ones have opened.
      for (let n = 0; n < 2; n++) {
        await view.page.evaluate("document.querySelectorAll('main button').forEach((each) => each.click())");
        await view.settled();
      }
      expect([place, changes]).toEqual([place, []]);
    }
    for (const title of ['Chat', 'Keys', 'Access log']) {
      expect(await view.page.getByRole('link', { name: title, exact: true }).count()).toBe(0);
    }
    await view.close();
  });

  it('is read again only after a change: an open page sends no request', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.page.clock.install();
    await view.go('home');
    await view.page.getByLabel('API key').fill(ADMIN.key);
    await view.page.getByRole('button', { name: 'Log in' }).click();
    await view.page.getByRole('heading', { name: 'Home' }).waitFor();
    let sent: string[] = [];
    view.page.on('request', (request) => void sent.push(request.url()));
    for (const place of ['home', 'runs', 'approvals']) {
      await view.go(place);
      await view.settled();
      await view.page.clock.runFor('00:10');
      await view.settled();
      sent = [];
      await view.page.clock.runFor('30:00');
      await view.settled();
      expect([place, sent]).toEqual([place, []]);
    }
    await view.close();
  });
});
