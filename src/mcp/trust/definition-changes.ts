import { Log, messageOf } from '../../errors/index.js';
import type { HoldReason, Pinned, ToolPin } from '../stores/tool-pin-store.js';
import { type DefinitionDifference, differencesOf } from './definition-difference.mapper.js';
import type { ScanFinding } from './description-scan.policy.js';
import type { QuarantinedTool, UsableTool } from './judged-tool.types.js';

/** A changed or new definition of a tool. */
export interface ChangedTool {
  /** The tool's name on the server. */
  readonly tool: string;
  /** Whether models receive this definition, the accepted one, or none. */
  readonly use: 'new' | 'accepted' | 'none';
  /** Why it waits, if it does. */
  readonly reason: HoldReason | null;
  readonly findings: readonly ScanFinding[];
  readonly differences: readonly DefinitionDifference[];
}

/** The event of changed definitions of a server, named `mcp.tools_changed`. */
export interface McpToolsChanged {
  readonly server: string;
  /** The server's versions, if known. */
  readonly previousVersion: string | null;
  readonly version: string | null;
  readonly tools: readonly ChangedTool[];
}

/** A judgement of a server's list. */
interface Judgement {
  readonly server: string;
  readonly version: string | null;
  readonly known: ReadonlyMap<string, ToolPin>;
  readonly now: readonly ToolPin[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly usable: readonly UsableTool[];
}

type Listener = (change: McpToolsChanged) => unknown;

/** Writes a log line of changed, held and suspicious definitions, and notifies listeners of changes. */
export class DefinitionChanges {
  private readonly logger = new Log('McpTrust');
  private readonly listeners = new Set<Listener>();
  /** The last warning of each server: each read of an unchanged list would repeat it. */
  private readonly warned = new Map<string, string>();

  /** @returns a function that removes the listener */
  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  publish(judgement: Judgement): void {
    const { server, version, known, now } = judgement;
    if (known.size > 0) {
      const tools = now.flatMap((pin) => changeOf(pin, known.get(pin.tool), judgement));
      const previousVersion = now.map(({ tool }) => known.get(tool)?.version).find(Boolean) ?? null;
      if (tools.length > 0) this.changed({ server, previousVersion, version, tools });
    }
    this.warn(judgement);
  }

  private changed(change: McpToolsChanged): void {
    const { server, previousVersion, version, tools } = change;
    const versions = previousVersion === version ? '' : ` with version ${version} after ${previousVersion}`;
    this.logger.log(`MCP server "${server}" changed its tools${versions}: ${tools.map(lineOf).join('; ')}`);
    for (const listener of this.listeners) void this.notify(listener, change);
  }

  private async notify(listener: Listener, change: McpToolsChanged): Promise<void> {
    try {
      await listener(change);
    } catch (error) {
      this.logger.warn(`A listener of changed MCP tools failed: ${messageOf(error)}`);
    }
  }

  private warn({ server, quarantined, usable }: Judgement): void {
    const held = quarantined.map(
      ({ tool, reason, findings, isHidden }) =>
        `${tool} is ${isHidden ? 'hidden' : 'used as accepted'} (${[reason, ...findings.map(({ what }) => what)].join(', ')})`,
    );
    const warnings = usable.flatMap(({ tool, warnings: found }) =>
      found ? [`${tool.name} ${found.map(({ what, at }) => `${what} (${at})`).join(', ')}`] : [],
    );
    const accept = `accept with POST /api/mcp/servers/${server}/accept`;
    const text = [
      ...(held.length > 0 ? [`definitions wait: ${held.join('; ')}; ${accept}`] : []),
      ...(warnings.length > 0 ? [`suspicious texts: ${warnings.join('; ')}`] : []),
    ].join('. ');
    if (text !== '' && text !== this.warned.get(server)) this.logger.warn(`MCP server "${server}": ${text}`);
    this.warned.set(server, text);
  }
}

/** The difference to the known pin; empty if the list has no news of the tool. */
function changeOf(pin: ToolPin, known: ToolPin | undefined, { quarantined }: Judgement): ChangedTool[] {
  const { tool, pending } = pin;
  const { definition } = listedOf(pin);
  if (known && listedOf(known).digest === listedOf(pin).digest && !known.pending === !pending) return [];
  const { reason = null, findings = [] } = pending ?? {};
  const differences = differencesOf(known?.accepted?.definition ?? null, definition);
  return [{ tool, use: useOf(quarantined.find((one) => one.tool === tool)), reason, findings, differences }];
}

function listedOf({ accepted, pending }: ToolPin): Pinned {
  return (pending ?? accepted)!;
}

function useOf(held: QuarantinedTool | undefined): ChangedTool['use'] {
  if (!held) return 'new';
  return held.isHidden ? 'none' : 'accepted';
}

const USES = { new: 'is used', accepted: 'waits, used as accepted', none: 'waits, hidden' } as const;

function lineOf({ tool, use, differences }: ChangedTool): string {
  const places = differences.map(({ at }) => at).join(', ');
  return `${tool} ${USES[use]}${places === '' ? '' : ` (${places})`}`;
}
