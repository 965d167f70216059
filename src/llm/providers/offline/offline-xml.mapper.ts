import type { OfflineCall } from './offline-rule.types.js';
import type { TextDialect } from './offline-dialect.types.js';

/** A parameter of a tool in the system text. */
const PARAMETER = /^  - (\S+) \((\w+)?.*?, (required|optional)\)/gm;

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

/** Calls in `<function_calls>`, results in `<function_results>`. */
export const XML_DIALECT: TextDialect = {
  marker: '<function_calls>',
  readParameters: (text) =>
    Array.from(text.matchAll(PARAMETER), ([, name = '', type = '', need]) => ({
      name,
      type,
      isRequired: need === 'required',
    })),
  readCalls: (reply) =>
    reply.includes('<function_calls>') ? after(reply, '<invoke name="').map((part) => upTo(part, '"')) : [],
  readAnswer: (reply) => reply,
  readResults: (text) =>
    after(text, '<result tool="').map((part) =>
      unescape(upTo(part.slice(part.indexOf('>') + 1), '</result>').replace(/^\n|\n$/g, '')),
    ),
  write: (reply) =>
    'calls' in reply ? `<function_calls>\n${reply.calls.map(toInvoke).join('\n')}\n</function_calls>` : reply.text,
};

function toInvoke({ tool, arguments: input }: OfflineCall): string {
  const parameters = Object.entries(input).map(
    ([name, value]) =>
      `<parameter name="${escape(name)}">${escape(typeof value === 'string' ? value : JSON.stringify(value))}</parameter>\n`,
  );
  return `<invoke name="${escape(tool)}">\n${parameters.join('')}</invoke>`;
}

function after(text: string, start: string): string[] {
  return text.split(start).slice(1);
}

function upTo(text: string, end: string): string {
  const at = text.indexOf(end);
  return at < 0 ? text : text.slice(0, at);
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function unescape(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|apos);/g, (entity) => ENTITIES[entity] ?? entity);
}
