import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { Tool } from '../tool/index.js';
import { TEXT_OPERATIONS, type TextInput } from './text-operation.registry.js';

interface StringToolsInput extends TextInput {
  readonly operation?: string;
}

const OPERATIONS = [...TEXT_OPERATIONS.keys()];
const MAX_TEXT = 100_000;
const EXAMPLE = 'for example {"operation": "upper", "text": "hello"} or {"text": "upper: hello"}';
/** `upper: hello`, `count words：…`. */
const BARE = /^\s*([A-Za-z]+(?:[ _-][A-Za-z]+)?)\s*[:：]\s*/;

const text = (description: string) => ({ type: 'string', maxLength: MAX_TEXT, description });

/** Exact text operations: letter case, lengths, order. Models often get these wrong. */
@Injectable()
export class StringTools {
  @Tool({
    name: 'string_tools',
    description:
      'Works on a text exactly: changes case, reverses, counts characters or words, replaces, finds, splits, joins, ' +
      'cuts, repeats. Characters are counted as a reader sees them. Use it instead of doing it yourself.',
    effect: 'read',
    // Only the arguments are in the result.
    private: false,
    input: {
      type: 'object',
      properties: {
        operation: {
          type: 'string',
          enum: OPERATIONS,
          description:
            'replace needs search and replacement; contains search; split separator (empty: into characters); join ' +
            'parts; slice start and perhaps end; repeat count. May be left out when the text begins with it: "upper: hello".',
        },
        text: text('The text. For join the separator of the parts.'),
        search: text('replace (every place), contains: the text to look for, as it is.'),
        replacement: text('replace: what to put there.'),
        separator: text('split, join: the separator of the parts.'),
        parts: { type: 'array', items: { type: 'string' }, description: 'join: the texts to put together.' },
        start: { type: 'integer', description: 'slice: the first character, from 0; below 0 from the end.' },
        end: { type: 'integer', description: 'slice: the character before which it ends; below 0 from the end.' },
        count: { type: 'integer', minimum: 0, description: 'repeat: how many times.' },
      },
      required: ['text'],
    },
  })
  stringTools(input: StringToolsInput): string | number | boolean | string[] {
    const { operation, ...rest } = input.operation === undefined ? bareForm(input) : input;
    const known = TEXT_OPERATIONS.get(operation ?? '');
    if (!known) throw refusal('There is no operation');
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
