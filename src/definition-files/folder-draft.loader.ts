import type { EnvRecord } from '../config/index.js';
import type { DraftReading, DraftSource } from './definition/definition.parser.js';
import { readAgentXml } from './definition/agent-element.parser.js';
import { readAgentJson } from './definition/agent-json.parser.js';
import type { DefinitionFolder } from './files/definition-folder.explorer.js';
import type { FolderReading } from './files/folder.types.js';
import { refused } from './files/text-file.loader.js';

/** Parses a file as JSON or XML, by its name. */
export function readAgentText(source: DraftSource): DraftReading {
  return source.file.toLowerCase().endsWith('.json') ? readAgentJson(source) : readAgentXml(source);
}

/** Content of a folder of agents, raw and parsed. */
export interface FolderDrafts {
  readonly reading: FolderReading;
  /** By file path, as in messages. */
  readonly drafts: ReadonlyMap<string, DraftReading>;
}

/**
 * Reads the agents' files of a folder with all included files.
 * @param guess included files, as far as known
 * @returns null if the folder does not exist
 * @throws AppError if the folder cannot be read
 */
export async function readFolderDrafts(
  folder: DefinitionFolder,
  env: EnvRecord,
  guess: Iterable<string> = [],
): Promise<FolderDrafts | null> {
  let others = new Set(guess);
  for (;;) {
    const reading = await folder.read(others);
    if (!reading) return null;
    const { drafts, included } = readDrafts(folder, env, reading);
    if ([...included].every((path) => others.has(path))) {
      const includes = [...reading.others].filter(([path]) => included.has(path));
      return { reading: { ...reading, others: new Map(includes) }, drafts };
    }
    // Parsing has revealed further included files: read again with them.
    others = included;
  }
}

function readDrafts(folder: DefinitionFolder, env: EnvRecord, { files, others }: FolderReading) {
  const included = new Set<string>();
  const include = (path: string): string => {
    included.add(path);
    const reading = others.get(path);
    if (reading && 'fault' in reading) throw refused(reading.fault);
    return reading?.text ?? 'not read yet';
  };
  const drafts = new Map<string, DraftReading>();
  for (const [name, reading] of files) {
    const file = folder.titleOf(name);
    const draft =
      'fault' in reading
        ? { mistakes: [`${file}: ${reading.fault}`] }
        : readAgentText({ file, text: reading.text, env, include });
    drafts.set(file, draft);
  }
  return { drafts, included };
}

/** Whether two readings have the same texts. */
export function isSameReading(one: FolderReading, other: FolderReading): boolean {
  return textsOf(one) === textsOf(other);
}

function textsOf({ files, others, unread }: FolderReading): string {
  return JSON.stringify([[...files], [...others], unread]);
}
