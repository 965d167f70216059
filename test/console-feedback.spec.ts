import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeBrowser } from './support/browser.js';
import { ConsolePage } from './support/console-page.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm });
  llm.always({ text: 'It is 42.' });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describeBrowser('feedback in the console', (browser) => {
  it('rates an answer, with a correction that the run shows', async () => {
    const view = await ConsolePage.open(browser(), jackdaw.url);
    await view.go('chat');
    await view.page.getByLabel('Message').fill('What is 6 * 8?');
    await view.page.getByRole('button', { name: 'Send' }).click();
    const bad = view.page.getByRole('button', { name: 'Bad answer' });
    await bad.click();
    await view.page.getByLabel('What is wrong?').fill('The product is 48.');
    await view.page.getByLabel('The right answer').fill('It is 48.');
    await view.page.getByRole('button', { name: 'Send feedback' }).click();
    await view.page.getByLabel('The right answer').waitFor({ state: 'detached' });
    await expect.poll(() => bad.getAttribute('aria-pressed')).toBe('true');
    await view.page.getByRole('link', { name: 'Open run' }).click();
    const feedback = view.page.getByRole('region', { name: 'Feedback' });
    await feedback.getByText('The product is 48.').waitFor();
    await feedback.getByRole('button', { name: 'Good answer' }).click();
    await expect.poll(() => feedback.getByText('The product is 48.').count()).toBe(0);
    expect(view.faults).toEqual([]);
    await view.close();
  });
});
