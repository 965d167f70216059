import { realpathSync, statSync } from 'node:fs';
import { dirname, relative, resolve, sep, isAbsolute } from 'node:path';
import { isNode, type Node } from './openapi.types.js';

/** Name of the document's member with the files that it refers to. */
const FILES = 'x-jackdaw-files';
/** Maximum number of files of a document. */
const MAX_FILES = 1000;
/** Members with data, where `$ref` is no reference. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const']);
/** Members whose own members have names of the author, such as `default`. */
const NAMED =
  /^(?:properties|patternProperties|dependentSchemas|\$defs|definitions|schemas|parameters|responses|requestBodies|mediaTypes|pathItems|paths|headers|callbacks|links)$/;

/**
 * Adds the files that a document refers to (`./schemas/pet.yaml#/Pet`) to the document, and rewrites the references. Only
 * readable files inside the document's folder are used; other references stay as they are, and nothing is fetched.
 * @param path of the document's file
 * @param read parses a file
 */
export async function withFiles(document: Node, path: string, read: (path: string) => Promise<unknown>): Promise<Node> {
  const root = realpathSync(path);
  const bundle = new Bundle(root, read);
  const rewritten = await bundle.rewrite(document, root);
  return bundle.files.length === 0 ? document : { ...(rewritten as Node), [FILES]: bundle.files };
}

class Bundle {
  readonly files: unknown[] = [];
  /** Positions in `files`, by path. */
  private readonly places = new Map<string, number | undefined>();
  private readonly folder: string;

  constructor(
    private readonly root: string,
    private readonly read: (path: string) => Promise<unknown>,
  ) {
    this.folder = dirname(root);
  }

  /**
   * Copies a value of a file with references that start at the root of the document.
   * @param isNamed whether its members have names of the author
   */
  async rewrite(value: unknown, file: string, isNamed = false): Promise<unknown> {
    if (Array.isArray(value)) {
      const copy: unknown[] = [];
      for (const member of value) copy.push(await this.rewrite(member, file));
      return copy;
    }
    if (!isNode(value)) return value;
    const entries: [string, unknown][] = [];
    for (const [key, member] of Object.entries(value)) {
      entries.push([key, await this.rewriteMember(key, member, file, isNamed)]);
    }
    return Object.fromEntries(entries);
  }

  private async rewriteMember(key: string, member: unknown, file: string, isName: boolean): Promise<unknown> {
    if (isName) return this.rewrite(member, file);
    if (DATA.has(key)) return member;
    if (key === '$ref' && typeof member === 'string') return this.moved(member, file);
    return this.rewrite(member, file, NAMED.test(key));
  }

  private async moved(reference: string, file: string): Promise<string> {
    const [target = '', fragment = ''] = reference.split('#', 2);
    const path = target === '' ? file : this.pathOf(target, file);
    if (path === undefined) return reference;
    if (path === this.root) return `#${fragment}`;
    const place = await this.placeOf(path);
    return place === undefined ? reference : `#/${FILES}/${place}${fragment}`;
  }

  /** `undefined` for a URL, a file outside of the folder, and a missing or special file. */
  private pathOf(target: string, file: string): string | undefined {
    if (/^[a-z][a-z\d+.-]*:/i.test(target) || target.startsWith('//') || isAbsolute(target)) return undefined;
    try {
      const path = realpathSync(resolve(dirname(file), decodeURIComponent(target)));
      const inner = relative(this.folder, path);
      const isInside = inner.split(sep)[0] !== '..' && !isAbsolute(inner);
      return isInside && statSync(path).isFile() ? path : undefined;
    } catch {
      return undefined;
    }
  }

  /** `undefined` for a file that cannot be parsed. */
  private async placeOf(path: string): Promise<number | undefined> {
    if (this.places.has(path)) return this.places.get(path);
    if (this.files.length >= MAX_FILES) return undefined;
    const content = await this.contentOf(path);
    this.places.set(path, content && this.files.length);
    if (!content) return undefined;
    const place = this.files.push(undefined) - 1;
    this.files[place] = await this.rewrite(content.value, path);
    return place;
  }

  private async contentOf(path: string): Promise<{ readonly value: unknown } | undefined> {
    try {
      return { value: await this.read(path) };
    } catch {
      return undefined;
    }
  }
}
