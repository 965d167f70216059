import { readdir, realpath } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { Skill } from '../../agent/index.js';
import { AppError, messageOf } from '../../errors/index.js';
import type { DefinitionFolder } from '../files/definition-folder.explorer.js';
import type { FolderReading } from '../files/folder.types.js';
import { assertInner, assertInside, readTextFileSoon, refused } from '../files/text-file.loader.js';
import { readSkillText, type SkillReading } from './skill-text.parser.js';

/** Maximum size of a file of a skill, in bytes: a tool result of the default size has room for it. */
const MAX_BYTES = 61_440;
/** Maximum number of entries of a skill's folder that are searched for files. */
const MAX_ENTRIES = 1_000;

/** Content of a folder of skills, raw and parsed. */
export interface FolderSkills {
  readonly reading: FolderReading;
  /** By file path, as in messages. */
  readonly readings: ReadonlyMap<string, SkillReading>;
}

/**
 * Reads the `SKILL.md` of each folder in a folder.
 * @returns null if the folder does not exist
 * @throws AppError if it cannot be read
 */
export async function readSkillFolder(folder: DefinitionFolder): Promise<FolderSkills | null> {
  const reading = await folder.read([]);
  if (!reading) return null;
  const { load } = await import('js-yaml');
  const readings = [...reading.files].map(([name, found]) => {
    const file = folder.titleOf(name);
    if ('fault' in found) return [file, { mistakes: [`${file}:1: ${found.fault}`] }] as const;
    const size = Buffer.byteLength(found.text);
    if (size > MAX_BYTES) return [file, { mistakes: [`${file}:1: ${tooLong(size)}`] }] as const;
    return [file, readSkillText(file, nameOf(name), found.text, load)] as const;
  });
  return { reading, readings: new Map(readings) };
}

/** Name of the skill by its file. @param file path that ends with the folder and `SKILL.md` */
export function nameOf(file: string): string {
  return posix.basename(dirname(file).replaceAll('\\', '/'));
}

/**
 * Access to the files of a skill's folder, and to nothing outside of it, whatever names and links exist.
 * @param file path of its `SKILL.md`
 */
export function filesOf(file: string): Pick<Skill, 'files' | 'read'> {
  const folder = dirname(file);
  return { files: () => listFiles(folder), read: (path) => readInside(folder, path) };
}

async function readInside(folder: string, path: string): Promise<string> {
  assertInner(path);
  let real: string;
  try {
    // The folder may have become a link since the skill was loaded.
    const all = await realpath(dirname(folder));
    const own = await realpath(folder);
    assertInside(all, own);
    real = await realpath(join(own, path));
    assertInside(own, real);
  } catch (error) {
    throw error instanceof AppError ? error : refused('there is no such file');
  }
  let text: string;
  try {
    text = await readTextFileSoon(real, MAX_BYTES);
  } catch (error) {
    // Messages of the system contain the whole path.
    throw error instanceof AppError ? error : refused(`it cannot be read (${codeOf(error)})`);
  }
  if (text.includes('\0')) throw refused('it is a binary file');
  return text;
}

/** Paths of the files, except hidden ones, links and `SKILL.md`. */
async function listFiles(folder: string): Promise<readonly string[]> {
  const files: string[] = [];
  const open = [''];
  let seen = 0;
  for (let at = open.shift(); at !== undefined && seen < MAX_ENTRIES; at = open.shift()) {
    const entries = await readdir(join(folder, at), { withFileTypes: true }).catch(() => []);
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = posix.join(at, entry.name);
      if (entry.name.startsWith('.') || path === 'SKILL.md' || ++seen > MAX_ENTRIES) continue;
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile()) files.push(path);
    }
  }
  return files;
}

function tooLong(size: number): string {
  return `it has ${size} bytes; at most ${MAX_BYTES} are read: move parts of it to other files of the skill`;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? messageOf(error);
}
