import { z } from 'zod';
import { CAPABILITIES, type CapabilityChanges } from './app-config.types.js';

const ENTRY = /^(!?)\s*([A-Za-z]+)$/;
const MOST_STOPS = 16;

/** `LLM_CAPABILITIES`: names, comma-separated; `!` before a name marks it as unsupported. Others are unchanged. */
export function capabilities() {
  return z.string().transform((text, context): CapabilityChanges => {
    const changes: Record<string, boolean> = {};
    for (const part of text.split(',')) {
      const [, not, name = ''] = ENTRY.exec(part.trim()) ?? [];
      if (CAPABILITIES.some((known) => known === name) && !(name in changes)) changes[name] = not === '';
      else {
        const message = `is not allowed: give some of ${CAPABILITIES.join(', ')}, each once, comma-separated, with ! before an unsupported one`;
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
    }
    return changes;
  });
}

/** `LLM_STOP`: a text, or a JSON array of texts, for several texts or for characters that a variable cannot contain. */
export function stops() {
  return z.string().transform((text, context): readonly string[] => {
    const read = text.startsWith('[') ? parseTexts(text) : [text];
    if (read) return read;
    const message = `is not allowed: give a text, or a JSON array of 1 to ${MOST_STOPS} texts`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

function parseTexts(text: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isTexts = Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '');
    return isTexts && value.length > 0 && value.length <= MOST_STOPS ? (value as string[]) : undefined;
  } catch {
    return undefined;
  }
}

const PATTERN = /^[^\s:*]+:\S+$/;

/**
 * `LLM_REQUEST_MODELS`: patterns of `provider:model`, comma-separated; `*` alone matches all, `none` matches nothing.
 */
export function modelPatterns() {
  return z.string().transform((text, context): readonly string[] => {
    if (text === 'none') return [];
    const patterns = text.split(',').map((part) => part.trim());
    if (patterns.every((one) => one === '*' || PATTERN.test(one))) return patterns;
    const message = 'is not allowed: give provider:model, with * for any characters, comma-separated; *, or none';
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}
