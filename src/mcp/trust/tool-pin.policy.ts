import type { Tool as McpTool } from '@modelcontextprotocol/client';
import type { McpServer } from '../mcp-server.types.js';
import type { HoldReason, Pinned, ToolPin } from '../stores/tool-pin-store.js';
import { scanDefinition } from './description-scan.policy.js';
import { canonicalJson } from '../../kernel/json/index.js';
import { digestOf, type PinnedDefinition, pinnedOf } from './definition-difference.mapper.js';

/** Circumstances of a listed definition. */
export interface Listing {
  readonly server: Pick<McpServer, 'pins' | 'scan'>;
  /** The server's version; `null` if it gives none. */
  readonly version: string | null;
  /** Whether the server has no pins yet. The operator who declared it has agreed to its first definitions. */
  readonly isFirst: boolean;
}

type Hints = Readonly<Record<string, unknown>>;

/** Values of annotations that loosen the handling of calls. */
const LOOSENING: Hints = { readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: false };

/** The pin of a listed tool. Without a change, the known pin is returned. */
export function pinOf(listed: McpTool, known: ToolPin | undefined, listing: Listing): ToolPin {
  const definition = pinnedOf(listed);
  const now: Pinned = { digest: digestOf(definition), definition };
  const pin = known ?? unknown(listed.name);
  if (pin.accepted?.digest === now.digest) return unchanged(pin, listing);
  const findings = scanDefinition(definition, listing.server.scan);
  const isSuspicious = findings.some(({ hides }) => hides);
  const reason = pin.accepted ? changeReason(pin, listing, isSuspicious) : newReason(pin, now, listing, isSuspicious);
  if (reason === null) {
    const hints = firmHints(pin, definition, listing);
    const { version } = listing;
    return { ...pin, accepted: now, pending: null, hints, version, decidedBy: null, changedAt: Date.now() };
  }
  const pending = { ...now, findings, reason };
  // A change is followed only with a version other than the one with which it was held.
  const version = pin.version ?? listing.version;
  if (canonicalJson(pin.pending) === canonicalJson(pending) && pin.version === version) return pin;
  return { ...pin, pending, version, changedAt: Date.now() };
}

function unknown(tool: string): ToolPin {
  return { tool, accepted: null, pending: null, hints: null, version: null, decidedBy: null, changedAt: 0 };
}

function unchanged(pin: ToolPin, { version }: Listing): ToolPin {
  if (pin.pending === null && (version === null || pin.version === version)) return pin;
  return { ...pin, pending: null, version: version ?? pin.version };
}

/** Whether a change may be followed: the server's code has changed too. */
function isFollowed({ version: before }: ToolPin, { server, version }: Listing): boolean {
  return server.pins === 'follow' && before !== null && version !== null && before !== version;
}

/** Why a changed definition waits; `null` if it is used. */
function changeReason(pin: ToolPin, listing: Listing, isSuspicious: boolean): HoldReason | null {
  if (!isFollowed(pin, listing)) return 'changed';
  return isSuspicious ? 'suspicious' : null;
}

/** Why the definition of a tool that was never accepted waits; `null` if it is used. */
function newReason(pin: ToolPin, { digest }: Pinned, listing: Listing, isSuspicious: boolean): HoldReason | null {
  const { server, isFirst } = listing;
  const isNew = pin.pending ? pin.pending.reason === 'new' : !isFirst;
  if (isNew && server.pins === 'hold') return 'new';
  if (isSuspicious) return 'suspicious';
  // The scan of a hidden tool can have become different, or its text.
  const isSameText = pin.pending === null || isNew || pin.pending.digest === digest;
  return isSameText || isFollowed(pin, listing) ? null : 'changed';
}

/** The annotations that take effect without a person's decision; `null` if all do. */
function firmHints(pin: ToolPin, definition: PinnedDefinition, listing: Listing): Hints | null {
  const { isFirst, server } = listing;
  if (isFirst || server.pins === 'block') return null;
  const listed = (definition.annotations ?? {}) as Hints;
  const before = hintsOf(pin);
  const firm = Object.entries(listed).filter(([name, value]) => LOOSENING[name] !== value || before[name] === value);
  return firm.length === Object.keys(listed).length ? null : Object.fromEntries(firm);
}

/** The annotations that take effect. */
function hintsOf({ accepted, hints }: ToolPin): Hints {
  return hints ?? ((accepted?.definition.annotations ?? {}) as Hints);
}
