import { Injectable } from '@nestjs/common';
import { AppError, ChangeListeners, type Principal } from '../common/index.js';

/** What a resource holds: a text, or bytes in base64. */
export type McpResourceContent = { readonly mimeType?: string } & (
  { readonly text: string } | { readonly blob: string }
);

/** Something that clients may read, at one address or, with `{name}` in the address, at many. */
export interface McpResource {
  /** `docs://handbook`, or `docs://pages/{page}`; a placeholder stands for anything without a slash. */
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType?: string;
  /**
   * @param variables what the placeholders stand for
   * @returns `null` when there is nothing at this address for this principal
   */
  read(
    variables: Readonly<Record<string, string>>,
    principal: Principal,
  ): McpResourceContent | null | Promise<McpResourceContent | null>;
}

interface Registered {
  readonly resource: McpResource;
  readonly pattern: RegExp;
}

/** The resources of an application's own; beside them are its sessions and runs. */
@Injectable()
export class McpResources {
  private readonly resources = new Map<string, Registered>();
  private readonly followers = new Set<(uri: string) => void>();
  /** Hear that a resource came or went. */
  readonly changes = new ChangeListeners();

  /** @throws AppError `EXTENSION_INVALID` when the address is taken */
  register(resource: McpResource): void {
    if (this.resources.has(resource.uri)) {
      throw new AppError('EXTENSION_INVALID', `There are two MCP resources at "${resource.uri}"; move one.`);
    }
    this.resources.set(resource.uri, { resource, pattern: patternOf(resource.uri) });
    this.changes.tell();
  }

  /** @returns whether there was one */
  unregister(uri: string): boolean {
    const wasThere = this.resources.delete(uri);
    if (wasThere) this.changes.tell();
    return wasThere;
  }

  /** Tells the clients that have subscribed to this address that what is there has changed. */
  updated(uri: string): void {
    for (const follower of this.followers) follower(uri);
  }

  /** @returns a function that ends it */
  onUpdate(follower: (uri: string) => void): () => void {
    this.followers.add(follower);
    return () => void this.followers.delete(follower);
  }

  list(): readonly McpResource[] {
    return [...this.resources.values()].map(({ resource }) => resource);
  }

  /** The resource at an address, and what its placeholders stand for there. */
  find(
    uri: string,
  ): { readonly resource: McpResource; readonly variables: Readonly<Record<string, string>> } | undefined {
    for (const { resource, pattern } of this.resources.values()) {
      const match = pattern.exec(uri);
      if (match) return { resource, variables: { ...match.groups } };
    }
    return undefined;
  }
}

/** Whether an address stands for many. */
export function isTemplate({ uri }: Pick<McpResource, 'uri'>): boolean {
  return uri.includes('{');
}

function patternOf(uri: string): RegExp {
  const parts = uri.split(/\{(\w+)\}/);
  const source = parts.map((part, at) => (at % 2 === 1 ? `(?<${part}>[^/]+)` : escaped(part)));
  return new RegExp(`^${source.join('')}$`);
}

/** Node 22 has no `RegExp.escape`. */
function escaped(text: string): string {
  return text.replaceAll(/[$()*+./?[\\\]^{|}-]/g, String.raw`\$&`);
}
