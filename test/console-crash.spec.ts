import { expect, it } from 'vitest';
import { describeBrowser } from './support/browser.js';
import { ConsolePage } from './support/console-page.js';
import { gate } from './support/jackdaw.js';
import { ProcessWorld } from './support/process-world.js';
import { freePort } from './support/free-port.js';

const world = ProcessWorld.prepare();

describeBrowser('a chat in the console', (browser) => {
  it('continues without a loss of text when the server is killed and restarted', async () => {
    const PORT = String(await freePort());
    const open = gate();
    world.llm.reply({ text: 'one two three', stallAfter: 3 }).reply({ gate: open.opened, text: 'uno dos tres' });
    const first = await world.start({ PORT });
    const view = await ConsolePage.open(browser(), first.url);
    await view.go('chat');
    await view.page.getByLabel('Message').fill('count');
    await view.page.getByRole('button', { name: 'Send' }).click();
    await view.page.locator('.prose', { hasText: 'one two' }).waitFor();
    await first.kill();
    await view.page.getByText('The connection is lost.').waitFor();

    await world.start({ PORT });
    await world.llm.waitForRequest(2);
    open.open();
    await view.page.locator('.prose', { hasText: 'uno dos tres' }).waitFor();
    await view.page.waitForURL(/chat\/./);
    await expect.poll(() => view.page.locator('.prose').allInnerTexts()).toEqual(['uno dos tres']);
    await expect.poll(() => view.page.getByText('The connection is lost.').count()).toBe(0);
    expect(view.faults).toEqual([]);
    await view.close();
  });
});
