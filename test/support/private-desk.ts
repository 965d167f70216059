import { z } from 'zod';
import type { AgentDefinitionInput } from '../../src/agent/definition/index.js';
import { suspend, type Suspension } from '../../src/tool/index.js';
import { Tool, type ToolContext } from '../../src/tool/method/index.js';
import { withImages } from '../../src/tool/result/index.js';

export const SECRET = 'sk-Abcdefgh12345678';
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** Texts that no cassette may have. */
export const PRIVATE = [
  'carol@acme.example',
  '555-0142',
  '4111',
  SECRET,
  'lee-ann7',
  'acme',
  'Carol Danvers',
  DOT.slice(0, 40),
];
export const QUESTION = `I am lee-ann7 (Carol Danvers). Write to carol@acme.example, call 212-555-0142, charge 4111 1111 1111 1111, use ${SECRET}.`;

/** The question as the cassette has it. */
export const MARKED = 'I am <user> ([redacted]). Write to [emails], call [phones], charge [cards], use [redacted].';

const EMAIL = z.object({ to: z.email(), phone: z.string().optional() });

/** The executed calls. */
export const CALLS: string[] = [];

/** Tools with results of all kinds, some of them private. */
export class Desk {
  @Tool({ description: 'Sends a mail.', effect: 'idempotent', input: EMAIL })
  mail({ to, phone }: { to: string; phone?: string }): object {
    CALLS.push(`mail ${to}`);
    return { sent: to, phone, card: 4111111111111111, at: Date.now() };
  }

  @Tool({ description: 'Refunds.', effect: 'once', approval: 'always', input: z.object({ amount: z.number() }) })
  refund({ amount }: { amount: number }): string {
    CALLS.push(`refund ${amount}`);
    return `refunded ${amount}`;
  }

  @Tool({ description: 'Fails.', effect: 'read', input: z.object({}) })
  fail(): string {
    CALLS.push('fail');
    throw new Error('The desk of carol@acme.example is closed.');
  }

  @Tool({ description: 'Asks.', effect: 'read', input: z.object({}) })
  ask(_input: object, { answer }: ToolContext): Suspension | string {
    CALLS.push('ask');
    return answer
      ? `answered ${JSON.stringify(answer.value)}`
      : suspend({ question: 'Which one, carol@acme.example?' });
  }

  @Tool({ description: 'Shows a picture.', effect: 'read', input: z.object({}) })
  picture(): unknown {
    CALLS.push('picture');
    return withImages({ of: 'carol@acme.example' }, [`data:image/png;base64,${DOT}`]);
  }
}

const TOOLS = ['mail', 'refund', 'fail', 'ask', 'picture'];
export const AGENT: AgentDefinitionInput = {
  name: 'desk',
  instructions: 'You help. Mails to help@acme-shop.example are read.',
  model: { provider: 'openai', name: 'gpt-4o' },
  tools: TOOLS,
};
export const LEAD: AgentDefinitionInput = { ...AGENT, name: 'lead', tools: [], subAgents: ['desk'] };
