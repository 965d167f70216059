import { realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentDefinitionInput } from '../agent/definition/index.js';
import type { EnvRecord } from '../config/index.js';
import { AppError } from '../errors/index.js';
import { withoutMark } from '../kernel/json/index.js';
import { type AgentDraft, readDefinition } from './definition/definition.parser.js';
import { readAgentXml } from './definition/agent-element.parser.js';
import { type FindAgent, inherit } from './definition/inheritance.policy.js';
import { assertInner, assertInside, readTextFile, refused } from './files/text-file.loader.js';

/** Returns a reader for files that an agent file includes, restricted to a folder. */
function includeFrom(folder: string | undefined): (path: string) => string {
  return (path) => {
    if (folder === undefined) throw refused('there is no folder that it could be in');
    assertInner(path);
    return readTextFile(insideOf(folder, path));
  };
}

/** Resolves links before the check that the target is inside the folder. */
function insideOf(folder: string, path: string): string {
  let real: string;
  let root: string;
  try {
    root = realpathSync(folder);
    real = realpathSync(join(folder, path));
  } catch {
    throw refused('there is no such file in the folder');
  }
  assertInside(root, real);
  // Reading a pipe would block.
  if (!statSync(real).isFile()) throw refused('expected a file');
  return real;
}

export interface ParseAgentOptions {
  /** Name of the text in messages; default `agent.xml`. */
  readonly file?: string;
  /** Values of the variables that the text declares; default: none. */
  readonly env?: EnvRecord;
  /** Folder of the files that a `src` may name; by default a `src` is an error. */
  readonly folder?: string;
  /** Finds the base of an agent by its name. */
  readonly find?: FindAgent;
}

/**
 * Parses an agent in XML (docs/agent-files.md); the result can be registered.
 * @throws AppError `AGENT_INVALID` with all mistakes, each with file, line, column and the expected value
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
