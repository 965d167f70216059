import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { AppError, messageOf } from '../../errors/index.js';
import type { FolderReading, TextReading } from './folder.types.js';
import { assertInner, assertInside, readTextFileSoon, refused } from './text-file.loader.js';

const MAX_FILES = 1_000;
/** Names of definition files, case-insensitive. */
const FILES = { agents: /^[^.].*\.(?:xml|json)$/is, workflows: /^[^.].*\.json$/is };
/** Names of other files: hidden files, editor backups, schemas, documentation. */
const OTHER_FILES = /^\.|^#.*#$|~$|\.(?:bak|orig|sw[a-p]|tmp|xsd)$|^(?:readme|license|changelog)(?:\.|$)/is;

/** The file of a skill, in a folder of its own. */
const SKILL_FILE = 'SKILL.md';

/** Reads the content of a folder, and nothing outside of it, whatever names and links exist. */
export class DefinitionFolder {
  /** Folders of skills at the last reading. */
  private skillFolders: readonly string[] = [];

  /** @param path as configured, also for messages @param kind kind of definitions in its files */
  constructor(
    readonly path: string,
    private readonly kind: keyof typeof FILES | 'skills' = 'agents',
  ) {}

  /** Reason why a file with another extension is ignored, as the end of a sentence. */
  get endings(): string {
    const endings = this.kind === 'agents' ? '.xml and .json' : '.json';
    return `${this.kind} are read from files that end with ${endings}; rename it, or move it out of the folder`;
  }

  /** Name of a file in messages. */
  titleOf(name: string): string {
    return join(this.path, name);
  }

  /** Folders to watch for changes of the content. @param others as in `read` */
  foldersOf(others: Iterable<string>): ReadonlySet<string> {
    const folders = [...others].map((path) => dirname(path));
    return new Set([this.path, ...[...folders, ...this.skillFolders].map((folder) => join(this.path, folder))]);
  }

  /**
   * Reads the definition files and the other requested files. Files whose names start with a dot are ignored.
   * @returns null if the folder does not exist
   * @throws AppError if it cannot be read
   */
  async read(others: Iterable<string>): Promise<FolderReading | null> {
    const root = await this.root();
    if (root === null) return null;
    const { files, unread } = await this.names();
    const included = new Set([...others].map((path) => normalize(path)));
    return {
      files: await this.readAll(root, files),
      others: await this.readAll(root, others),
      unread: unread.filter((name) => !included.has(name)),
    };
  }

  private async root(): Promise<string | null> {
    try {
      return await realpath(this.path);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw this.unreadable(error);
    }
  }

  /** Names of definition files, and of similar files with another extension. */
  private async names(): Promise<{ readonly files: string[]; readonly unread: string[] }> {
    const entries = await readdir(this.path, { withFileTypes: true }).catch((error: unknown) => {
      throw this.unreadable(error);
    });
    const { files, unread } =
      this.kind === 'skills' ? this.skillsOf(entries) : definitionsOf(entries, FILES[this.kind]);
    if (files.length <= MAX_FILES) return { files, unread };
    throw refused(`${this.path} has ${files.length} files of ${this.kind}; at most ${MAX_FILES} are read`);
  }

  private skillsOf(entries: readonly Dirent[]): { readonly files: string[]; readonly unread: string[] } {
    const folders = entries.filter((entry) => !entry.isFile() && !entry.name.startsWith('.'));
    this.skillFolders = namesOf(folders);
    return { files: this.skillFolders.map((folder) => `${folder}/${SKILL_FILE}`), unread: [] };
  }

  private async readAll(root: string, paths: Iterable<string>): Promise<Map<string, TextReading>> {
    const texts = new Map<string, TextReading>();
    // Sequential: the files are few, and a slow disk must not occupy all threads of the pool.
    for (const path of paths) texts.set(path, await this.readOne(root, path));
    return texts;
  }

  private async readOne(root: string, path: string): Promise<TextReading> {
    try {
      assertInner(path);
      const real = await realpath(join(root, path));
      assertInside(root, real);
      return { text: await readTextFileSoon(real) };
    } catch (error) {
      return { fault: faultOf(error) };
    }
  }

  private unreadable(error: unknown): AppError {
    const why = codeOf(error) === 'ENOTDIR' ? 'it is not a folder' : messageOf(error);
    return refused(`${this.path} cannot be read: ${why}`);
  }
}

/** Names of definition files, and of other files that a user may expect to be read. */
function definitionsOf(entries: readonly Dirent[], pattern: RegExp) {
  const isDefinition = ({ name }: Dirent) => pattern.test(name);
  const unread = entries.filter((entry) => !isDefinition(entry) && entry.isFile() && !OTHER_FILES.test(entry.name));
  return { files: namesOf(entries.filter(isDefinition)), unread: namesOf(unread) };
}

function namesOf(entries: readonly Dirent[]): string[] {
  return entries.map(({ name }) => name).toSorted();
}

/** System error messages contain real paths, which must not be disclosed. */
function faultOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  const code = codeOf(error);
  return code === 'ENOENT' ? 'there is no such file in the folder' : `it cannot be read (${code})`;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? messageOf(error);
}
