import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { Injectable, Logger } from '@nestjs/common';
import { AppError, type Principal } from '../../common/index.js';
import { ToolPinStore, type ToolPin } from '../stores/tool-pin-store.js';
import { mcpToolName } from '../tool/mcp-tool-name.policy.js';
import { scanDefinition, type ScanFinding } from './description-scan.policy.js';
import { digestOf, pinnedOf } from './tool-digest.factory.js';

/** Why a tool is kept from every model until an operator accepts it. */
export interface QuarantinedTool {
  /** The server's own name of it. */
  readonly tool: string;
  readonly reason: 'changed' | 'suspicious';
  readonly findings: readonly ScanFinding[];
}

export interface JudgedTools {
  readonly accepted: readonly McpTool[];
  readonly quarantined: readonly QuarantinedTool[];
}

/**
 * Pins what a server's tools say of themselves. What is seen first is accepted, unless it hides something or gives the
 * model orders; what is something else later is not, whatever it says, until an operator has looked at it.
 */
@Injectable()
export class ToolTrust {
  private readonly logger = new Logger('McpTrust');

  constructor(private readonly pins: ToolPinStore) {}

  /** Parts the tools that a server lists. Those that cannot be called by their names are pinned nowhere: nobody gets them. */
  async judge(server: string, tools: readonly McpTool[]): Promise<JudgedTools> {
    const known = await this.pins.of(server);
    const callable = tools.filter(({ name }) => mcpToolName(server, name) !== undefined);
    const now = [...new Map(callable.map((tool) => [tool.name, toPin(tool, known.get(tool.name))])).values()];
    await this.pins.add(
      server,
      now.filter(({ tool }) => !known.has(tool)),
    );
    const changed = now.filter((pin) => {
      const before = known.get(pin.tool);
      return before !== undefined && before.pending?.digest !== pin.pending?.digest;
    });
    await this.pins.replace(server, changed);
    const quarantined = now.flatMap(toQuarantined);
    this.tell(server, quarantined, known);
    const isHeld = new Set(quarantined.map(({ tool }) => tool));
    return { accepted: tools.filter(({ name }) => !isHeld.has(name)), quarantined };
  }

  /** All that is known of a server's tools, by the server's names. */
  async pinsOf(server: string): Promise<readonly ToolPin[]> {
    return [...(await this.pins.of(server)).values()];
  }

  /**
   * Lets a tool be used as it is now.
   * @param digest of what the operator has looked at: something else is not accepted
   * @throws AppError `TOOL_NOT_FOUND` where nothing waits, `COMMIT_REFUSED` when it has changed meanwhile
   */
  async accept(server: string, tool: string, digest: string, { id }: Principal): Promise<void> {
    const pin = (await this.pins.of(server)).get(tool);
    if (!pin?.pending) {
      const message = `Tool "${tool}" of MCP server "${server}" is not in quarantine: there is nothing to accept.`;
      throw new AppError('TOOL_NOT_FOUND', message, { details: { server, tool } });
    }
    if (pin.pending.digest !== digest) {
      const message = `Tool "${tool}" of MCP server "${server}" has changed since: look at it again and accept its digest.`;
      throw new AppError('COMMIT_REFUSED', message, { details: { server, tool, digest: pin.pending.digest } });
    }
    const { findings: _seen, ...accepted } = pin.pending;
    await this.pins.replace(server, [{ tool, accepted, pending: null, decidedBy: id, changedAt: Date.now() }]);
  }

  /** Forgets a server that is no more: the next one of its name is a stranger. */
  async forget(server: string): Promise<void> {
    await this.pins.forget(server);
  }

  private tell(server: string, held: readonly QuarantinedTool[], known: ReadonlyMap<string, ToolPin>): void {
    for (const { tool, reason, findings } of held) {
      if (known.get(tool)?.pending) continue;
      const why = reason === 'changed' ? 'it is not what was accepted' : findings.map(({ what }) => what).join('; ');
      this.logger.warn(`Tool ${JSON.stringify(tool)} of MCP server "${server}" is in quarantine: ${why}`);
    }
  }
}

function toPin(listed: McpTool, known: ToolPin | undefined): ToolPin {
  const definition = pinnedOf(listed);
  const digest = digestOf(definition);
  const accepted = known?.accepted ?? null;
  const about = { tool: listed.name, decidedBy: known?.decidedBy ?? null, changedAt: Date.now() };
  if (accepted?.digest === digest) return { ...about, accepted, pending: null };
  const findings = scanDefinition(definition);
  if (!known && findings.length === 0) return { ...about, accepted: { digest, definition }, pending: null };
  return { ...about, accepted, pending: { digest, definition, findings } };
}

function toQuarantined({ tool, accepted, pending }: ToolPin): QuarantinedTool[] {
  if (!pending) return [];
  return [{ tool, reason: accepted ? 'changed' : 'suspicious', findings: pending.findings }];
}
