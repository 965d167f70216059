import type { AgentDefinitionInput } from '../agent/index.js';
import { AppError, withoutMark } from '../common/index.js';
import type { EnvRecord } from '../config/index.js';
import type { AgentDraft } from './definition/agent-draft.types.js';
import { readAgentXml } from './definition/agent-element.parser.js';
import { readDefinition } from './definition/definition.parser.js';
import { inherit, type FindAgent } from './definition/inheritance.policy.js';
import { includeFrom } from './files/include.loader.js';

export interface ParseAgentOptions {
  /** What the text is called in messages; by default `agent.xml`. */
  readonly file?: string;
  /** The values of the variables that the text declares; by default none are given. */
  readonly env?: EnvRecord;
  /** The folder inside which a `src` names files; without it none can. */
  readonly folder?: string;
  /** The agent that another may extend, by its name. */
  readonly find?: FindAgent;
}

/**
 * The agent that an XML text describes, as docs/agent-files.md says: it can be registered, or given to another application.
 * @throws AppError `AGENT_INVALID` with every mistake, each with file, line, column and what was expected
 */
export function parseAgent(xml: string, options: ParseAgentOptions = {}): AgentDefinitionInput {
  const { file = 'agent.xml', env = {}, folder } = options;
  if (typeof xml !== 'string') throw new AppError('AGENT_INVALID', `${file}: there is no text: give one.`);
  const reading = readAgentXml({ file, text: withoutMark(xml), env, include: includeFrom(folder) });
  const { draft } = demand(reading);
  return demand(readDefinition(draft, wholeOf(draft, options.find))).definition;
}

function wholeOf(draft: AgentDraft, find: FindAgent = () => undefined): unknown {
  const { extends: base, input } = draft;
  if (base === undefined) return input;
  const found = find(base);
  if (found) return inherit({ ...found }, input);
  throw new AppError('AGENT_INVALID', `${draft.placeOf(['extends'])}: extends="${base}": there is no such agent`);
}

function demand<T extends object>(reading: T | { readonly mistakes: readonly string[] }): T {
  if ('mistakes' in reading) throw new AppError('AGENT_INVALID', reading.mistakes.join('\n'));
  return reading;
}
