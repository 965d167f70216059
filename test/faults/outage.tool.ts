import { Tool } from '../../src/index.js';

const INPUT = { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] } as const;

/** A tool with an effect outside, which a test holds while it breaks the storage. */
export class OutageTool {
  readonly effects: string[] = [];
  /** Awaited inside of a call, after its effect. */
  hold: Promise<void> = Promise.resolve();
  private onCall: () => void = () => undefined;

  /** Resolves when the next call has made its effect. */
  called(): Promise<void> {
    return new Promise((resolve) => (this.onCall = resolve));
  }

  @Tool({ description: 'Sends a parcel.', effect: 'once', input: INPUT })
  async send_parcel({ to }: { to: string }): Promise<string> {
    this.effects.push(to);
    this.onCall();
    await this.hold;
    return `sent to ${to}`;
  }
}
