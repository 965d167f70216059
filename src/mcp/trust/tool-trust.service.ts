import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { canonicalJson } from '../../kernel/json/index.js';
import type { McpServer } from '../mcp-server.types.js';
import { type ToolPin, ToolPinStore } from '../stores/tool-pin-store.js';
import { mapInSlices } from '../time-slice.policy.js';
import { mcpToolName } from '../tool/server-tools.registry.js';
import { DefinitionChanges } from './definition-changes.js';
import { scanDefinition } from './description-scan.policy.js';
import type { JudgedTools, QuarantinedTool, UsableTool } from './judged-tool.types.js';
import { pinOf } from './tool-pin.policy.js';

/** Definitions and annotations of a server that wait for a person. */
export interface WaitingTools {
  /** SHA-256 (hex) of all waiting definitions. */
  readonly digest: string;
  readonly pins: readonly ToolPin[];
}

/** Pins the definitions of a server's tools, and decides which definitions are in use. */
@Injectable()
export class ToolTrust {
  /** Publishes changes. */
  readonly changes = new DefinitionChanges();

  constructor(private readonly pins: ToolPinStore) {}

  /**
   * Pins a server's tools. Tools with invalid names are not pinned: no model receives them. Of several tools with one
   * name only the first is used.
   * @param version the server's version; `null` if it gives none
   */
  async judge(
    server: McpServer,
    version: string | null,
    tools: readonly McpTool[],
    signal?: AbortSignal,
  ): Promise<JudgedTools> {
    const { name } = server;
    const known = await this.pins.of(name);
    const first = [...new Map(tools.toReversed().map((tool) => [tool.name, tool])).values()].toReversed();
    const callable = first.filter((tool) => mcpToolName(name, tool.name) !== undefined);
    const listing = { server, version, isFirst: known.size === 0 };
    const now = await mapInSlices(callable, (tool) => pinOf(tool, known.get(tool.name), listing), signal);
    await this.pins.add(
      name,
      now.filter(({ tool }) => !known.has(tool)),
    );
    await this.pins.replace(
      name,
      now.filter((pin) => known.has(pin.tool) && known.get(pin.tool) !== pin),
    );
    const pins = new Map(now.map((pin) => [pin.tool, pin]));
    const judged = await mapInSlices(tools, (tool) => toUsable(tool, pins.get(tool.name), server), signal);
    const usable = judged.filter((one) => one !== undefined);
    const quarantined = now.flatMap((pin) => toQuarantined(pin, server));
    const heldHints = now.flatMap(({ tool, hints }) => (hints ? [tool] : []));
    this.changes.publish({ server: name, version, known, now, quarantined, usable });
    return { usable, quarantined, heldHints };
  }

  /** All pins of a server, by the tools' names on the server. */
  async pinsOf(server: string): Promise<readonly ToolPin[]> {
    return [...(await this.pins.of(server)).values()];
  }

  /** The waiting definitions and annotations of these tools. @param tools names on the server */
  async waiting(server: string, tools: ReadonlySet<string>): Promise<WaitingTools> {
    const pins = (await this.pinsOf(server)).filter(
      ({ tool, pending, hints }) => tools.has(tool) && (pending ?? hints),
    );
    const digests = pins.map(({ tool, accepted, pending }) => [tool, (pending ?? accepted)!.digest]);
    return { digest: createHash('sha256').update(canonicalJson(digests)).digest('hex'), pins };
  }

  /**
   * Accepts the listed definition of a tool, and its annotations.
   * @param digest of the reviewed definition; another one is not accepted
   * @throws AppError `TOOL_NOT_FOUND` if nothing of the tool waits, `COMMIT_REFUSED` if it has changed meanwhile
   */
  async accept(server: string, tool: string, digest: string, principal: Principal): Promise<void> {
    const { pins } = await this.waiting(server, new Set([tool]));
    const [pin] = pins;
    if (!pin) {
      const message = `Tool "${tool}" of MCP server "${server}" is not in quarantine: there is nothing to accept.`;
      throw new AppError('TOOL_NOT_FOUND', message, { details: { server, tool } });
    }
    const present = (pin.pending ?? pin.accepted)!.digest;
    if (present !== digest) {
      const message = `Tool "${tool}" of MCP server "${server}" has changed since the review: review it again and accept its new digest.`;
      throw new AppError('COMMIT_REFUSED', message, { details: { server, tool, digest: present } });
    }
    await this.pins.replace(server, [acceptedBy(principal, pin)]);
  }

  /**
   * Accepts everything of a server that waits.
   * @param digest of the reviewed definitions; by default the present ones are accepted
   * @throws AppError `COMMIT_REFUSED` if they have changed since the review
   */
  async acceptAll(server: string, waiting: WaitingTools, digest: string | undefined, principal: Principal) {
    if (digest !== undefined && digest !== waiting.digest) {
      const message = `The tools of MCP server "${server}" have changed since the review: review them again with dryRun, and accept the new digest.`;
      throw new AppError('COMMIT_REFUSED', message, { details: { server, digest: waiting.digest } });
    }
    await this.pins.replace(
      server,
      waiting.pins.map((pin) => acceptedBy(principal, pin)),
    );
  }

  /** Deletes the pins of a removed server, so that another server of the same name does not inherit its trust. */
  async forget(server: string): Promise<void> {
    await this.pins.forget(server);
  }
}

function acceptedBy({ id }: Principal, { tool, accepted: before, pending, version }: ToolPin): ToolPin {
  const { digest, definition } = (pending ?? before)!;
  return {
    tool,
    accepted: { digest, definition },
    pending: null,
    hints: null,
    version,
    decidedBy: id,
    changedAt: Date.now(),
  };
}

/** @returns undefined for a hidden tool. A tool without a pin is refused later, for its name */
function toUsable(listed: McpTool, pin: ToolPin | undefined, server: McpServer): UsableTool | undefined {
  if (!pin) return { tool: listed };
  const { accepted: used, pending, hints, decidedBy } = pin;
  if (!used || (pending && server.pins === 'block')) return undefined;
  const definition = used.definition as McpTool;
  // A person has reviewed an accepted definition.
  const warnings = decidedBy === null ? scanDefinition(used.definition, server.scan) : [];
  const { outputSchema } = listed;
  return {
    // The view is not pinned: models do not read it. That of a waiting definition waits, too.
    tool: { ...definition, ...(hints && { annotations: hints }), ...metaOf(listed, pending !== null) },
    ...(pending && { waiting: { ...(outputSchema && { outputSchema }) } }),
    ...(warnings.length > 0 && { warnings }),
  };
}

function metaOf({ _meta }: McpTool, isWaiting: boolean): Pick<McpTool, '_meta'> {
  return _meta && !isWaiting ? { _meta } : {};
}

function toQuarantined({ tool, accepted: used, pending }: ToolPin, server: McpServer): QuarantinedTool[] {
  if (!pending) return [];
  const { reason, findings } = pending;
  return [{ tool, reason, findings, isHidden: !used || server.pins === 'block' }];
}
