import type { DraftReading, DraftSource } from './agent-draft.types.js';
import { readAgentXml } from './agent-element.parser.js';
import { readAgentJson } from './agent-json.parser.js';

/** Parses a file as JSON or XML, by its name. */
export function readAgentText(source: DraftSource): DraftReading {
  return source.file.toLowerCase().endsWith('.json') ? readAgentJson(source) : readAgentXml(source);
}
