import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { Injectable, Logger } from '@nestjs/common';
import { AppError, type Principal } from '../../common/index.js';
import { ToolPinStore, type ToolPin } from '../stores/tool-pin-store.js';
import { mcpToolName } from '../tool/mcp-tool-name.policy.js';
import { scanDefinition, type ScanFinding } from './description-scan.policy.js';
import { digestOf, pinnedOf } from './tool-digest.factory.js';

/** A tool hidden from every model until an operator accepts it. */
export interface QuarantinedTool {
  /** The tool's name on the server. */
  readonly tool: string;
  readonly reason: 'changed' | 'suspicious';
  readonly findings: readonly ScanFinding[];
}

export interface JudgedTools {
  readonly accepted: readonly McpTool[];
  readonly quarantined: readonly QuarantinedTool[];
}

/**
 * Pins the definitions of a server's tools. A first definition is accepted, unless it hides text or instructs the
 * model. A changed definition is quarantined, whatever it contains, until an operator accepts it.
 */
@Injectable()
export class ToolTrust {
  private readonly logger = new Logger('McpTrust');

  constructor(private readonly pins: ToolPinStore) {}

  /**
   * Divides a server's tools into accepted and quarantined ones. Tools with invalid names are not pinned: no model
   * receives them.
   */
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
    this.logQuarantined(server, quarantined, known);
    const quarantinedNames = new Set(quarantined.map(({ tool }) => tool));
    return { accepted: tools.filter(({ name }) => !quarantinedNames.has(name)), quarantined };
  }

  /** All pins of a server, by the tools' names on the server. */
  async pinsOf(server: string): Promise<readonly ToolPin[]> {
    return [...(await this.pins.of(server)).values()];
  }

  /**
   * Accepts the present definition of a tool.
   * @param digest of the reviewed definition; another one is not accepted
   * @throws AppError `TOOL_NOT_FOUND` if the tool is not in quarantine, `COMMIT_REFUSED` if it has changed meanwhile
   */
  async accept(server: string, tool: string, digest: string, { id }: Principal): Promise<void> {
    const pin = (await this.pins.of(server)).get(tool);
    if (!pin?.pending) {
      const message = `Tool "${tool}" of MCP server "${server}" is not in quarantine: there is nothing to accept.`;
      throw new AppError('TOOL_NOT_FOUND', message, { details: { server, tool } });
    }
    if (pin.pending.digest !== digest) {
      const message = `Tool "${tool}" of MCP server "${server}" has changed since the review: review it again and accept its new digest.`;
      throw new AppError('COMMIT_REFUSED', message, { details: { server, tool, digest: pin.pending.digest } });
    }
    const { findings: _seen, ...accepted } = pin.pending;
    await this.pins.replace(server, [{ tool, accepted, pending: null, decidedBy: id, changedAt: Date.now() }]);
  }

  /** Deletes the pins of a removed server: a later server of its name is not trusted because of them. */
  async forget(server: string): Promise<void> {
    await this.pins.forget(server);
  }

  private logQuarantined(
    server: string,
    quarantined: readonly QuarantinedTool[],
    known: ReadonlyMap<string, ToolPin>,
  ): void {
    for (const { tool, reason, findings } of quarantined) {
      if (known.get(tool)?.pending) continue;
      const why =
        reason === 'changed'
          ? 'its definition differs from the accepted one'
          : findings.map(({ what }) => what).join('; ');
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
