import { Tool } from '../../src/index.js';

interface To {
  readonly to: string;
}

const input = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } as const;
const read = { effect: 'read', untrusted: true, input } as const;

/** Tools that read untrusted content, and egress tools whose targets are recorded. */
export class InjectedTools {
  readonly effects: string[] = [];
  world: Readonly<Record<string, string>> = {};

  @Tool({ ...read, description: 'Reads a page.' })
  read_page({ to }: To): string {
    return this.text(to);
  }

  @Tool({ ...read, description: 'Reads a mail.' })
  read_inbox({ to }: To): string {
    return this.text(to);
  }

  @Tool({ ...read, description: 'Reads a file.' })
  read_file({ to }: To): string {
    return this.text(to);
  }

  @Tool({ description: 'Counts.', effect: 'read', input })
  count({ to }: To): number {
    return to.length;
  }

  @Tool({ description: 'Sends a mail.', effect: 'once', input })
  send_mail({ to }: To): string {
    this.effects.push(`mail ${to}`);
    return 'sent';
  }

  @Tool({ description: 'Posts to a URL.', effect: 'idempotent', egress: true, input })
  post_webhook({ to }: To): string {
    this.effects.push(`post ${to}`);
    return 'posted';
  }

  @Tool({ description: 'Transfers money.', effect: 'once', input })
  transfer({ to }: To): string {
    this.effects.push(`transfer ${to}`);
    return 'transferred';
  }

  /** The text at a place; a text that starts with FAIL is thrown. */
  text(place: string): string {
    const text = this.world[place] ?? 'nothing';
    if (text.startsWith('FAIL ')) throw new Error(text);
    return text;
  }
}
