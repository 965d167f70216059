import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { PATIENCE_MS } from './patience.js';

export interface ConsoleOptions {
  readonly language?: 'en' | 'zh';
  readonly theme?: 'light' | 'dark';
  /** Width of the window, in px. */
  readonly width?: number;
}

/** Rules of WCAG 2.2, levels A and AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** A page of the console in a browser, with everything that must not happen there. */
export class ConsolePage {
  /** Requests without an answer, but for the feed of changes, which has no end. */
  private readonly open = new Set<Request>();
  /** Errors of scripts, requests to other hosts, and violations of the policy. */
  readonly faults: string[] = [];

  private constructor(
    private readonly base: string,
    private readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  /** @param base URL of the server, with its path prefix */
  static async open(browser: Browser, base: string, options: ConsoleOptions = {}): Promise<ConsolePage> {
    const { language = 'en', theme = 'light', width = 1440 } = options;
    const context = await browser.newContext({
      locale: language === 'zh' ? 'zh-CN' : 'en-US',
      colorScheme: theme,
      viewport: { width, height: 900 },
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const opened = new ConsolePage(base, context, page);
    const { host } = new URL(base);
    page.on('pageerror', ({ message }) => opened.faults.push(message));
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:' && url.host !== host) opened.faults.push(`request to ${url.host}`);
    });
    page.on('request', (request) => {
      if (!request.url().endsWith('/api/events')) opened.open.add(request);
    });
    page.on('requestfinished', (request) => void opened.open.delete(request));
    page.on('requestfailed', (request) => void opened.open.delete(request));
    page.on('console', (message) => {
      if (/Content Security Policy|Trusted/i.test(message.text())) opened.faults.push(message.text());
    });
    return opened;
  }

  /** Opens a place such as `runs/x`. */
  async go(place: string): Promise<void> {
    const target = `${this.base}/console/#/${place}`;
    if (this.page.url() === target) await this.page.reload();
    else await this.page.goto(target);
    await this.page.locator('main h1, main form').first().waitFor();
  }

  /** Resolves when every request has its answer, also those that the page sends after the first answers. */
  async settled(): Promise<void> {
    for (let quiet = 0; quiet < 3; quiet = this.open.size === 0 ? quiet + 1 : 0) {
      // Two frames: the page has shown the data that it has received.
      await this.page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    }
  }

  /** The violations of WCAG 2.2 AA, each with its first element. */
  async violations(): Promise<string[]> {
    const { violations } = await new AxeBuilder({ page: this.page }).withTags(RULES).analyze();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`);
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
