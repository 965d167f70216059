import { afterAll, beforeAll, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { describeBrowser } from './support/browser.js';
import { ConsolePage } from './support/console-page.js';
import { evalReport } from './support/eval-reports.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';
import { inShortForm } from './support/long-form.js';

let llm: FakeLlm;
let jackdaw: Jackdaw;
let runId: string;
let former: string;
let present: string;
beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm });
  llm.always({ text: 'It is 42.' });
  runId = String((await jackdaw.chat({ query: 'What is 6 * 7?' })).body['run_id']);
  // The first ten lines change from passed to failed, and the last one the other way.
  former = await store((at) => at < 499);
  present = await store((at) => at >= 10);
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

async function store(passes: (at: number) => boolean): Promise<string> {
  const [result] = evalReport().results;
  const results = Array.from({ length: 500 }, (_, at) => ({
    ...result,
    line: `q${at}`,
    runId,
    isPassed: passes(at),
    scores: passes(at) ? result!.scores : { exact: { score: 0, reason: 'expected "42", received "It is 42."' } },
  }));
  const passed = results.filter(({ isPassed }) => isPassed).length;
  const passRate = { passed, total: 500, rate: passed / 500, low: 0.9, high: 1 };
  const { body } = await jackdaw.post('/api/evals', { report: evalReport({ lines: 500, passRate, results }) });
  return String(body['id']);
}

describeBrowser('evals in the console', (browser) => {
  it('lists evals, and leads from a failed line to its run', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('evals');
    const rows = view.page.getByRole('region', { name: 'Evals' }).getByRole('row');
    await expect.poll(() => rows.count()).toBe(3);
    await rows.nth(1).getByRole('link', { name: 'refunds' }).click();
    await view.page.getByLabel('Outcome').selectOption('failed');
    await view.page.getByText('10 of 500').waitFor();
    const lines = view.page.getByRole('region', { name: 'Lines' });
    await lines.getByText('expected "42", received "It is 42."').first().waitFor();
    await lines.getByRole('link').first().click();
    await view.page.getByText('What is 6 * 7?').waitFor();
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it('compares two evals, and shows the changed lines first', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go(`evals/${present}`);
    await view.page.getByLabel('Compare with…').selectOption(former);
    await view.page.getByText('11 of 500').waitFor();
    const passed = view.page.getByRole('region', { name: 'Comparison' }).getByRole('row').nth(1);
    expect((await passed.innerText()).split(/\s+/)).toEqual(['Passed', '99.8%', '98%', '1', '10', 'worse']);
    await view.page.getByLabel('Change').selectOption('better');
    await view.page.getByText('1 of 500').waitFor();
    await view.page.getByRole('button', { name: 'Swap' }).click();
    await view.page.getByText('11 of 500').waitFor();
    expect(view.faults).toEqual([]);
    await view.close();
  });

  it.each(
    inShortForm(1, [
      { language: 'zh', theme: 'dark', width: 390 },
      { language: 'en', theme: 'light', width: 1440 },
    ] as const),
  )('is accessible, and never scrolls sideways: %j', async (options) => {
    const view = await ConsolePage.open(browser(), jackdaw.url, options);
    for (const place of ['evals', `evals/${present}`, `evals/${present}/with/${former}`]) {
      await view.go(place);
      await view.settled();
      expect(await view.violations()).toEqual([]);
      expect(await view.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(options.width);
    }
    await view.close();
  });

  it('downloads runs as lines of a dataset', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    const download = async (name: string) => {
      const [file] = await Promise.all([
        view.page.waitForEvent('download'),
        view.page.getByRole('button', { name }).click(),
      ]);
      return readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\n');
    };
    await view.go(`runs/${runId}`);
    const line = { id: runId, input: 'What is 6 * 7?', expected: 'It is 42.' };
    expect((await download('Dataset line')).map((text) => JSON.parse(text) as unknown)).toMatchObject([line]);
    await view.go('runs?agent=default');
    expect((await download('Download dataset')).map((text) => JSON.parse(text) as unknown)).toMatchObject([line]);
    expect(view.faults).toEqual([]);
    await view.close();
  });
});
