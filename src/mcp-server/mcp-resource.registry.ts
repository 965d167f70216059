import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { ChangeListeners, type Principal } from '../kernel/index.js';

/** The content of a resource: text, or bytes in base64. */
export type McpResourceContent = { readonly mimeType?: string } & (
  { readonly text: string } | { readonly blob: string }
);

/** A readable resource at one URI or, with `{name}` in the URI, at many. */
export interface McpResource {
  /** `docs://handbook`, or `docs://pages/{page}`; a placeholder matches any text without a slash. */
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType?: string;
  /**
   * @param variables values of the placeholders
   * @returns `null` if this principal has no resource at the URI
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

/** The application's own resources, in addition to its sessions and runs. */
@Injectable()
export class McpResources {
  private readonly resources = new Map<string, Registered>();
  private readonly followers = new Set<(uri: string) => void>();
  /** Listeners for added and removed resources. */
  readonly changes = new ChangeListeners();

  /** @throws AppError `EXTENSION_INVALID` if the URI is taken */
  register(resource: McpResource): void {
    if (this.resources.has(resource.uri)) {
      throw new AppError('EXTENSION_INVALID', `There are two MCP resources at "${resource.uri}"; move one.`);
    }
    this.resources.set(resource.uri, { resource, pattern: patternOf(resource.uri) });
    this.changes.notify();
  }

  /** @returns whether the resource existed */
  unregister(uri: string): boolean {
    const wasThere = this.resources.delete(uri);
    if (wasThere) this.changes.notify();
    return wasThere;
  }

  /** Notifies subscribed clients that the resource at this URI has changed. */
  updated(uri: string): void {
    for (const follower of this.followers) follower(uri);
  }

  /** @returns a function that removes the listener */
  onUpdate(follower: (uri: string) => void): () => void {
    this.followers.add(follower);
    return () => void this.followers.delete(follower);
  }

  list(): readonly McpResource[] {
    return [...this.resources.values()].map(({ resource }) => resource);
  }

  /** The resource at a URI, and the values of its placeholders. */
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

/** Whether a URI is a template. */
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
