import { Tool, type ToolContext } from '../../src/tool/method/index.js';
import { z } from 'zod';

const TEXT = { input: z.object({ text: z.string() }), effect: 'read' as const };

/** The tools of planned conversations. */
export class TalkTools {
  onHang: () => void = () => undefined;

  @Tool({ description: 'Works.', ...TEXT })
  good({ text }: { text: string }): string {
    return text;
  }

  @Tool({ description: 'Fails.', ...TEXT })
  bad({ text }: { text: string }): never {
    throw new Error(text);
  }

  @Tool({ description: 'Needs leave, which it never gets.', ...TEXT, approval: 'always' })
  pay(): string {
    return 'paid';
  }

  @Tool({ description: 'Has no end.', ...TEXT })
  hang(_input: { text: string }, { signal }: ToolContext): Promise<never> {
    this.onHang();
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }
}
