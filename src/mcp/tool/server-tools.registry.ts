import { createHash } from 'node:crypto';
import { AppError, Log, messageOf } from '../../errors/index.js';
import { canonicalJson } from '../../kernel/json/index.js';
import { anyPattern, type ToolAnnouncement, type ToolRegistry } from '../../tool/index.js';
import type { Tool, ToolContext } from '../../tool/method/index.js';
import type { CallChannel } from '../call/mcp-call.executor.js';
import type { McpServer } from '../mcp-server.types.js';
import { mapInSlices } from '../time-slice.policy.js';
import type { QuarantinedTool, UsableTool } from '../trust/judged-tool.types.js';
import { type ContentTool, createContentTool } from './content-tool.factory.js';
import { createMcpTool } from './mcp-tool.factory.js';

/** Maximum length that every provider accepts. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 6;
/** Names that MCP allows (SEP-986), in ASCII only: other scripts have letters that look the same. */
const TOOL_NAME = /^[A-Za-z0-9_./-]{1,128}$/;
const SERVER_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,31}$/;

/** Separates the server's name from the tool's; no server name contains it. */
export const NAME_SEPARATOR = '__';

/** Why a server name is invalid; undefined for a valid one. */
export function refusedServerName(name: unknown): string | undefined {
  if (typeof name === 'string' && SERVER_NAME.test(name) && !name.endsWith('_')) return undefined;
  return `the name ${JSON.stringify(name)} is invalid: use 1 to 32 letters, digits, "-" or single "_", starting with a letter or digit and not ending with "_"`;
}

/** The tool's name in Jackdaw; undefined for an invalid name, which could imitate another tool. */
export function mcpToolName(server: string, tool: string): string | undefined {
  if (!TOOL_NAME.test(tool)) return undefined;
  const name = `${server}${NAME_SEPARATOR}${tool.replaceAll(/[./]/g, '_')}`;
  if (name.length <= MAX_LENGTH) return name;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, HASH_LENGTH);
  return `${name.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}

const INVALID_NAME = 'its name is longer than 128 characters, or has characters other than letters, digits and _ - . /';

const REASONS: Readonly<Record<QuarantinedTool['reason'], string>> = {
  changed: 'its definition differs from the accepted one',
  new: 'the server added it after its definitions were accepted',
  suspicious: 'its definition is suspicious',
};

/** A tool of the server, or a tool of Jackdaw for its resources or prompts. */
type Listed = UsableTool | ContentTool;

/** A tool of the server with its definition as JSON; without a tool if it is registered unchanged. */
interface Prepared {
  readonly name: string;
  readonly listed: Listed;
  readonly text: string;
  readonly tool?: Tool;
}

/** Tools that replace the present ones. */
export interface PreparedTools {
  readonly tools: readonly Prepared[];
  /** Why others are refused, by their names on the server. */
  readonly refused: ReadonlyMap<string, string>;
  /** Tools whose listed definitions wait for a person. */
  readonly quarantined: readonly QuarantinedTool[];
}

/** The tools of a list, and the reasons of the defective ones, by their names on the server. */
export interface ToolListing {
  readonly tools: readonly UsableTool[];
  /** Tools for the server's resources and prompts; a tool of the server with the same name takes precedence. */
  readonly content?: readonly ContentTool[];
  readonly refused?: ReadonlyMap<string, string>;
  readonly quarantined?: readonly QuarantinedTool[];
}

/** The tools of one server in the registry of all tools. */
export class ServerTools {
  private readonly logger = new Log('McpTools');
  /** Registered tools: name in Jackdaw, and definition as JSON. */
  private readonly registered = new Map<string, string>();
  private refusals = new Map<string, string>();
  /** Hidden tools by their names in Jackdaw. */
  private hidden = new Map<string, QuarantinedTool>();
  private retract: (() => void) | undefined;

  constructor(
    private readonly server: McpServer,
    private readonly registry: ToolRegistry,
    private readonly channelOf: (name: string, context: ToolContext) => CallChannel,
  ) {}

  /** @param name the tool's name in Jackdaw */
  has(name: string): boolean {
    return this.registered.has(name);
  }

  /** The error of a call of a hidden tool. @param name the tool's name in Jackdaw */
  heldError(name: string): AppError | undefined {
    const held = this.hidden.get(name);
    if (!held) return undefined;
    const { tool, reason, findings } = held;
    const server = this.server.name;
    const why = [REASONS[reason], ...findings.flatMap(({ what, hides }) => (hides ? [`it ${what}`] : []))].join('; ');
    const message = `Tool "${name}" of MCP server "${server}" is hidden: ${why}. An admin can review it with POST /api/mcp/servers/${server}/accept {"dryRun":true}, and accept it without dryRun.`;
    return new AppError('TOOL_HELD', message, { details: { server, tool, reason } });
  }

  /** Whether the declaration selects a tool. @param tool its name on the server */
  isSelected(tool: string): boolean {
    return isSelected(tool, this.server);
  }

  /** The tools' names in Jackdaw. */
  get names(): readonly string[] {
    return [...this.registered.keys()];
  }

  /** Number of its tools with warnings about their definitions. */
  get warned(): number {
    return this.names.filter((name) => this.registry.get(name).metadata.warnings).length;
  }

  /** Why tools were rejected, by their names on the server. */
  get refused(): ReadonlyMap<string, string> {
    return this.refusals;
  }

  /** Announces future tools, so that an agent can name them before they are registered. */
  announce(announcement: Omit<ToolAnnouncement, 'source' | 'isRequired' | 'heldError'>): void {
    const { name, isRequired } = this.server;
    this.retract = this.registry.announce(`${name}${NAME_SEPARATOR}`, {
      source: name,
      isRequired,
      heldError: (tool) => this.heldError(tool),
      ...announcement,
    });
  }

  /** Removes all tools and the announcement. */
  close(): void {
    this.swap({ tools: [], refused: new Map(), quarantined: [] });
    this.retract?.();
  }

  /**
   * Prepares tools to replace the present ones, in slices: a long list does not block the process. Nothing changes yet.
   * @param signal ends the work; the promise rejects with its reason
   */
  async prepare(
    { tools, content = [], refused = new Map(), quarantined = [] }: ToolListing,
    signal: AbortSignal,
  ): Promise<PreparedTools> {
    const refusals = new Map<string, string>();
    const refuse = (name: string, why: string): undefined => this.refuse(refusals, name, why);
    for (const [name, why] of refused) if (this.isSelected(name)) refuse(name, why);
    const names = new Set([...tools.map(nameOf), ...quarantined.map(({ tool }) => tool)]);
    const usedNames = new Set<string>();
    const prepared = await mapInSlices(
      [...tools, ...content.filter(({ name }) => !names.has(name))],
      (listed) => {
        const own = nameOf(listed);
        if (!this.isSelected(own)) return undefined;
        const name = mcpToolName(this.server.name, own);
        if (name === undefined) return refuse(own, INVALID_NAME);
        if (usedNames.has(name)) return refuse(own, `its name ${name} is taken by another tool`);
        usedNames.add(name);
        try {
          return this.prepareOne(name, listed);
        } catch (error) {
          return refuse(own, messageOf(error));
        }
      },
      signal,
    );
    return {
      tools: prepared.filter((one) => one !== undefined),
      refused: refusals,
      quarantined: quarantined.filter(({ tool }) => this.isSelected(tool)),
    };
  }

  /** Replaces the server's tools at once. */
  swap({ tools, refused, quarantined }: PreparedTools): void {
    this.refusals = new Map(refused);
    const hidden = quarantined.filter(({ isHidden }) => isHidden);
    this.hidden = new Map(hidden.map((held) => [mcpToolName(this.server.name, held.tool)!, held]));
    const coming = new Map(tools.map((prepared) => [prepared.name, prepared]));
    for (const [name, known] of this.registered) if (coming.get(name)?.text !== known) this.drop(name);
    for (const prepared of tools) if (!this.registered.has(prepared.name)) this.add(prepared);
  }

  private drop(name: string): void {
    this.registered.delete(name);
    this.registry.unregister(name);
  }

  private add({ name, listed, text, tool = this.create(name, listed) }: Prepared): void {
    try {
      this.registry.register(tool);
      this.registered.set(name, text);
    } catch (error) {
      this.refuse(this.refusals, nameOf(listed), messageOf(error));
    }
  }

  /** @throws AppError `TOOL_INVALID` for a schema that cannot be used */
  private prepareOne(name: string, listed: Listed): Prepared {
    const text = canonicalJson(listed);
    const isKnown = this.registered.get(name) === text;
    return { name, listed, text, ...(!isKnown && { tool: this.create(name, listed) }) };
  }

  private create(name: string, listed: Listed): Tool {
    const channelOf = (context: ToolContext) => this.channelOf(name, context);
    return 'read' in listed
      ? createContentTool(name, listed, this.server, channelOf)
      : createMcpTool(name, listed, this.server, channelOf);
  }

  private refuse(refusals: Map<string, string>, name: string, why: string): undefined {
    const shortName = name.slice(0, 128);
    refusals.set(shortName, why);
    this.logger.warn(`Rejected tool ${JSON.stringify(shortName)} of MCP server "${this.server.name}": ${why}`);
  }
}

function nameOf(listed: Listed): string {
  return 'read' in listed ? listed.name : listed.tool.name;
}

function isSelected(name: string, { tools }: McpServer): boolean {
  return tools === undefined || anyPattern(tools)(name);
}
