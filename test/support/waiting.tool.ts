import { z } from 'zod';
import { suspend, type Suspension } from '../../src/tool/index.js';
import { Tool, type ToolContext } from '../../src/tool/method/index.js';

const TEXT = z.object({ text: z.string().min(1) });
const AMOUNT = z.object({ to: z.string(), amount: z.number().positive() });

interface Amount {
  readonly to: string;
  readonly amount: number;
}

/** Tools that wait for people in different ways; they record their effects. */
export class WaitingTools {
  /** Effects, in order. */
  readonly done: string[] = [];
  /** The calls that `reconcile` was asked about. */
  readonly reconciled: string[] = [];
  /** The outcomes that it returns, by session. */
  readonly reconciliations = new Map<string | null, () => unknown>();
  /** Whether `send` and `post` record their effect and then never end. */
  isHolding = false;
  /** Called while `look` works. */
  onLook: (() => void) | undefined;
  private readonly arrivals: (() => void)[] = [];

  @Tool({ description: 'Always needs approval.', approval: 'always', input: AMOUNT })
  pay({ to, amount }: Amount): string {
    this.done.push(`pay ${to} ${amount}`);
    return `paid ${amount} to ${to}`;
  }

  @Tool({
    description: 'Needs approval above 100.',
    effect: 'idempotent',
    approval: ({ amount }: Amount) => {
      if (amount === 13) throw new Error('superstition');
      return amount > 100;
    },
    input: AMOUNT,
  })
  refund({ to, amount }: Amount): string {
    this.done.push(`refund ${to} ${amount}`);
    return `refunded ${amount} to ${to}`;
  }

  @Tool({ description: 'Asks which flight.', effect: 'read', input: TEXT })
  choose({ text }: { text: string }, { answer }: ToolContext): Suspension | string {
    if (!answer) return suspend({ question: `Which one for ${text}?`, schema: { enum: ['LH1', 'KL2'] } });
    const choice = answer.value as string;
    this.done.push(`choose ${text} ${choice}`);
    return `${text}: ${choice}, says ${answer.by}`;
  }

  @Tool({ description: 'Asks twice, and not for long.', input: TEXT })
  hurry({ text }: { text: string }, { answer }: ToolContext): Suspension | string {
    if (answer?.value === 'sure') {
      this.done.push(`hurry ${text}`);
      return 'hurried';
    }
    return suspend({ question: answer ? 'Sure?' : 'Now?', expiresInMs: 60_000 });
  }

  @Tool({ description: 'Sends, once.', input: TEXT })
  send({ text }: { text: string }): Promise<string> | string {
    return this.finish('send', text);
  }

  @Tool({ description: 'Sends, once, and can find out.', reconcile: 'findOut', input: TEXT })
  post({ text }: { text: string }): Promise<string> | string {
    return this.finish('post', text);
  }

  @Tool({ description: 'Reads.', effect: 'read', input: TEXT })
  look({ text }: { text: string }): string {
    this.onLook?.();
    this.done.push(`look ${text}`);
    return `seen ${text}`;
  }

  findOut(key: string, { sessionId }: ToolContext): unknown {
    this.reconciled.push(key);
    return this.reconciliations.get(sessionId)?.();
  }

  /** Resolves when a held call has recorded its effect. */
  arrived(): Promise<void> {
    return new Promise((resolve) => this.arrivals.push(resolve));
  }

  private finish(tool: string, text: string): Promise<string> | string {
    this.done.push(`${tool} ${text}`);
    if (!this.isHolding) return `sent ${text}`;
    for (const arrive of this.arrivals.splice(0)) arrive();
    return new Promise(() => undefined);
  }
}
