import { Injectable } from '@nestjs/common';
import { factsOfRun, UNKNOWN_FACTS } from '../../run/facts/index.js';
import { factsOf, learnFacts, meterOf } from '../../tool/call/index.js';
import { Tool, type ToolContext } from '../../tool/method/index.js';
import { FACT_LIMITS, FactMemory, type FactOwner, type RecallOptions } from './fact-memory.js';

interface RememberInput {
  readonly text: string;
}

interface RecallInput {
  readonly query: string;
  readonly limit?: number;
}

const MOST_RECALLED = 20;

/** Tools that remember and recall facts about the user across sessions. */
@Injectable()
export class MemoryTools {
  constructor(private readonly memory: FactMemory) {}

  @Tool({
    description:
      'Keeps a fact about the user for later conversations: a preference, a name, a date, a decision. One fact a call, ' +
      'as a whole sentence that is understood without this conversation.',
    effect: 'idempotent',
    // A fact outlives the run, and takes along the facts of its data.
    egress: 'strict',
    private: false,
    input: {
      type: 'object',
      properties: {
        text: { type: 'string', maxLength: FACT_LIMITS.textCharacters, description: 'The fact.' },
      },
      required: ['text'],
    },
  })
  async remember({ text }: RememberInput, context: ToolContext): Promise<string> {
    const { key, runId } = context;
    const dataFacts = factsOfRun(factsOf(context), runId);
    await this.memory.remember(ownerOf(context), text, { key, dataFacts, ...callOf(context) });
    return 'Remembered.';
  }

  @Tool({
    description:
      'Looks up facts remembered about the user in earlier conversations. Use it before you ask the user for ' +
      'something that may be known.',
    effect: 'read',
    input: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          maxLength: FACT_LIMITS.queryCharacters,
          description: 'What to look for, in the words that the fact may have been written with.',
        },
        limit: { type: 'integer', minimum: 1, maximum: MOST_RECALLED, description: 'The most facts; default 5.' },
      },
      required: ['query'],
    },
  })
  async recall({ query, limit }: RecallInput, context: ToolContext): Promise<unknown> {
    const facts = await this.memory.recall(ownerOf(context), query, { ...callOf(context), ...(limit && { limit }) });
    learnFacts(
      context,
      facts.flatMap(({ dataFacts = UNKNOWN_FACTS }) => dataFacts),
    );
    return { facts: facts.map(({ text, updatedAt }) => ({ text, remembered_at: new Date(updatedAt).toISOString() })) };
  }
}

function ownerOf({ principal }: ToolContext): FactOwner {
  return { tenant: principal.tenant, user: principal.id };
}

function callOf(context: ToolContext): Pick<RecallOptions, 'signal' | 'meter'> {
  const meter = meterOf(context);
  return { signal: context.signal, ...(meter && { meter }) };
}
