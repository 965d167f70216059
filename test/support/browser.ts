import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import { chromium, type Browser } from 'playwright-core';
import { PATIENCE_MS } from './patience.js';

/**
 * Chromium as Debian, other distributions and macOS install it; `CHROMIUM_PATH` names another. The shell without a user
 * interface takes less than half of the CPU time.
 */
const PATHS = [
  process.env['CHROMIUM_PATH'] ?? '',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Root has no sandbox in a container; the other arguments keep Chromium from calling its maker's servers. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Tests in a headless Chromium. Without one they are skipped by name; with `CI=true` they fail. */
export function describeBrowser(title: string, define: (browser: () => Browser) => void): void {
  const path = PATHS.find((each) => each !== '' && existsSync(each));
  const isLeftOut = path === undefined && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`${title} in Chromium`, () => {
    if (path === undefined) {
      it('has a browser to be tested in: install Chromium, or set CHROMIUM_PATH', () => expect(path).toBeDefined());
      return;
    }
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: path, args: ARGUMENTS, timeout: PATIENCE_MS });
    });
    afterAll(() => browser.close());
    define(() => browser);
  });
}
