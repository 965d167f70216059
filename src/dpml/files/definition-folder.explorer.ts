import type { Dirent } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { AppError, messageOf } from '../../common/index.js';
import type { FolderReading, TextReading } from './folder.types.js';
import { assertInner, assertInside, refused } from './inside-path.policy.js';
import { readTextFileSoon } from './text-file.loader.js';

const MAX_FILES = 1_000;
/** Names of the files that define something, in capitals or not. */
const FILES = { agents: /^[^.].*\.(?:xml|json)$/is, workflows: /^[^.].*\.json$/is };
/** Names that do not look like a definition: hidden files, copies of editors, and what explains the others. */
const OTHER_FILES = /^\.|^#.*#$|~$|\.(?:bak|orig|sw[a-p]|tmp|xsd)$|^(?:readme|license|changelog)(?:\.|$)/is;

/** Reads what is in a folder, and nothing that is elsewhere, whatever names and links say. */
export class DefinitionFolder {
  /** @param path as people name it, in messages too @param kind what its files define */
  constructor(
    readonly path: string,
    private readonly kind: keyof typeof FILES = 'agents',
  ) {}

  /** Why a file with another ending is not read, as the end of a sentence. */
  get endings(): string {
    const endings = this.kind === 'agents' ? '.xml and .json' : '.json';
    return `${this.kind} are read from files that end with ${endings}; rename it, or move it out of the folder`;
  }

  /** How a file of it is called in messages. */
  titleOf(name: string): string {
    return join(this.path, name);
  }

  /** The folders whose changes are changes of what it reads. @param others as in `read` */
  foldersOf(others: Iterable<string>): ReadonlySet<string> {
    return new Set([this.path, ...[...others].map((path) => dirname(join(this.path, path)))]);
  }

  /**
   * The files that define something, and others that they name. Files whose names begin with a point are passed over.
   * @returns nothing where there is no such folder
   * @throws AppError when it cannot be read
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

  /** The names of the files that define something, and of files that look so and have another ending. */
  private async names(): Promise<{ readonly files: string[]; readonly unread: string[] }> {
    const entries = await readdir(this.path, { withFileTypes: true }).catch((error: unknown) => {
      throw this.unreadable(error);
    });
    const isDefinition = ({ name }: Dirent) => FILES[this.kind].test(name);
    const files = namesOf(entries.filter(isDefinition));
    const unread = entries.filter((entry) => !isDefinition(entry) && entry.isFile() && !OTHER_FILES.test(entry.name));
    if (files.length <= MAX_FILES) return { files, unread: namesOf(unread) };
    throw refused(`${this.path} has ${files.length} files of ${this.kind}; at most ${MAX_FILES} are read`);
  }

  private async readAll(root: string, paths: Iterable<string>): Promise<Map<string, TextReading>> {
    const texts = new Map<string, TextReading>();
    // One after another: there are few, and a slow disk is not to take up every thread there is.
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
    const why = codeOf(error) === 'ENOTDIR' ? 'it is no folder' : messageOf(error);
    return refused(`${this.path} cannot be read: ${why}`);
  }
}

function namesOf(entries: readonly Dirent[]): string[] {
  return entries.map(({ name }) => name).toSorted();
}

/** System errors have real paths in their messages, which are nobody's business. */
function faultOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  const code = codeOf(error);
  return code === 'ENOENT' ? 'there is no such file in the folder' : `it cannot be read (${code})`;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? messageOf(error);
}
