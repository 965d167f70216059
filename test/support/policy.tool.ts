import { Tool } from '../../src/index.js';

interface Text {
  readonly text: string;
}
interface Mail {
  readonly to: string;
}

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const;
const mail = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } as const;

/** Tools under test by policies: their effects are recorded. */
export class PolicyTools {
  readonly done: string[] = [];
  /** The content of a page. */
  page = 'a page';

  @Tool({ description: 'Says it again.', effect: 'read', input: text })
  repeat({ text: said }: Text): string {
    this.done.push(`repeat ${said}`);
    return said;
  }

  @Tool({ description: 'Gives a value as it is.', effect: 'read', input: { type: 'object' } })
  value(args: unknown): unknown {
    return args;
  }

  @Tool({ description: 'Reads a page of the web.', effect: 'read', input: text, untrusted: true })
  read_page({ text: url }: Text): string {
    this.done.push(`read ${url}`);
    return this.page;
  }

  @Tool({ description: 'Sends a mail.', effect: 'once', input: mail })
  send_mail({ to }: Mail): string {
    this.done.push(`mail ${to}`);
    return 'sent';
  }

  @Tool({ description: 'Fails.', effect: 'read', input: text })
  fail({ text: why }: Text): string {
    throw new Error(why);
  }
}
