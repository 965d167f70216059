import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { Tool } from '../tool/method/index.js';
import { TEXT_OPERATIONS, type TextInput } from './text-operation.registry.js';

interface StringToolsInput extends TextInput {
  readonly operation?: string;
}

const OPERATIONS = [...TEXT_OPERATIONS.keys()];
/** Maximum size of a text, in UTF-16 units. */
const MAX_TEXT = 100_000;
const EXAMPLE = 'for example {"operation": "upper", "text": "hello"} or {"text": "upper: hello"}';
/** `upper: hello`, `count words：…`. */
const BARE = /^\s*([A-Za-z]+(?:[ _-][A-Za-z]+)?)\s*[:：]\s*/;

/** Exact text operations: letter case, lengths, order. Models often get these wrong. */
@Injectable()
export class StringTools {
  @Tool({
    name: 'string_tools',
    description: 'Exact operations on a text, by visible characters.',
    effect: 'read',
    // Only the arguments are in the result.
    private: false,
    input: {
      type: 'object',
      properties: {
        operation: { type: 'string', enum: OPERATIONS },
        text: { type: 'string', description: 'The text; for join, the separator' },
        search: { type: 'string', description: 'replace, contains' },
        replacement: { type: 'string' },
        separator: { type: 'string', description: 'split; empty: into characters' },
        parts: { type: 'array', items: { type: 'string' }, description: 'join' },
        start: { type: 'integer', description: 'slice, from 0; negative: from the end' },
        end: { type: 'integer', description: 'exclusive' },
        count: { type: 'integer', minimum: 0, description: 'repeat' },
      },
      required: ['text'],
    },
  })
  stringTools(input: StringToolsInput): string | number | boolean | string[] {
    const { operation, ...rest } = input.operation === undefined ? bareForm(input) : input;
    const known = TEXT_OPERATIONS.get(operation ?? '');
    if (!known) throw refusal('There is no operation');
    if (Object.values(rest).some((value) => typeof value === 'string' && value.length > MAX_TEXT)) {
      throw refusal(`A text has more than ${MAX_TEXT} characters`);
    }
    const missing = known.needs.filter((name) => rest[name] === undefined);
    if (missing.length > 0) {
      const wanted = missing.map((name) => `"${name}"`).join(' and ');
      throw refusal(`The operation "${operation}" needs ${wanted}`);
    }
    return known.apply(rest);
  }
}

function bareForm(input: StringToolsInput): StringToolsInput {
  const match = BARE.exec(input.text);
  const operation = match?.[1]?.toLowerCase().replace(/[ -]/, '_');
  return { ...input, text: input.text.slice(match?.[0].length), ...(operation && { operation }) };
}

function refusal(reason: string): AppError {
  return new AppError('TOOL_FAILED', `${reason}: ${EXAMPLE}. Operations: ${OPERATIONS.join(', ')}.`);
}
