import { IsArray, IsBoolean, IsInt, IsObject, IsString, IsUrl, Matches, Max, Min } from 'class-validator';
import type { McpServerStatus } from '../mcp/index.js';
import { AsItCame } from './as-it-came.decorator.js';
import { MayBeLeftOut } from './may-be-left-out.decorator.js';

/** An MCP server. */
export class McpServerDto {
  name!: string;
  /** How it is reached: `stdio` or `http`. */
  transport!: 'stdio' | 'http';
  /** Where it was declared. */
  source!: string;
  status!: McpServerStatus;
  /** Since when it stands so, epoch ms; 0 for one that is disabled. */
  since!: number;
  /** How often it has been connected to. */
  connects!: number;
  /** Its tools, by their names here. */
  tools!: string[];
  /** How many of its tools wait to be accepted. */
  quarantined!: number;
}

/** All MCP servers. */
export class McpServerListDto {
  servers!: McpServerDto[];
}

/** What is suspicious about a tool, and where. */
export class McpFindingDto {
  /** A JSON pointer into the definition. */
  at!: string;
  what!: string;
}

/** A tool as it describes itself. */
export class McpPinnedDto {
  /** SHA-256, hex. */
  digest!: string;
  definition!: Record<string, unknown>;
}

/** A tool that no model is shown. */
export class McpQuarantineDto {
  /** The server's own name of it. */
  tool!: string;
  /** `changed` after it was accepted, or `suspicious` from the start. */
  reason!: 'changed' | 'suspicious';
  findings!: McpFindingDto[];
  /** As it was accepted; `null` if it never was. */
  accepted!: McpPinnedDto | null;
  /** As it is now. */
  pending!: McpPinnedDto;
}

/** A tool that cannot be used. */
export class McpRefusedToolDto {
  /** The server's own name of it. */
  tool!: string;
  why!: string;
}

/** An MCP server, and what an operator has to know. */
export class McpServerDetailDto extends McpServerDto {
  /** Why it is not connected to. */
  error?: string;
  /** When it is tried again, epoch ms. */
  retry_at?: number;
  /** The protocol that is spoken. */
  protocol?: string;
  /** What the server says that it is. */
  server_info?: Record<string, unknown>;
  /** How many sessions have a connection of their own. */
  sessions!: number;
  quarantine!: McpQuarantineDto[];
  refused!: McpRefusedToolDto[];
}

/** Which tool is to be used as it is now. */
export class McpAcceptDto {
  /** The server's own name of it. */
  @IsString()
  @Matches(/\S/u, { message: 'tool must not be blank' })
  tool!: string;

  /** The digest of what was looked at. */
  @Matches(/^[0-9a-f]{64}$/, { message: 'digest must be 64 lower-case hex digits' })
  digest!: string;
}

/** A server that is to be added: one of HTTP, as no program is started over REST. */
export class McpNewServerDto {
  @IsString()
  @Matches(/\S/u, { message: 'name must not be blank' })
  name!: string;

  /** Of its Streamable HTTP endpoint. */
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  url!: string;

  /** Sent with every request. */
  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  headers?: Record<string, string>;

  /** As in `config/mcp-servers.json`. */
  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  auth?: Record<string, unknown>;

  /** The longest that one call may take, in ms. */
  @MayBeLeftOut()
  @IsInt()
  @Min(1)
  @Max(86_400_000)
  timeoutMs?: number;

  /** Whether its hints about effects are believed. */
  @MayBeLeftOut()
  @IsBoolean()
  trusted?: boolean;

  /** Which of its tools are there, as patterns of its names. */
  @MayBeLeftOut()
  @IsArray()
  @IsString({ each: true })
  @Matches(/\S/u, { each: true, message: 'each of tools must not be blank' })
  tools?: string[];
}

/** What a resource is read by. */
export class McpResourceQueryDto {
  @IsString()
  @Matches(/\S/u, { message: 'uri must not be blank' })
  uri!: string;
}

/** Which page of a list. */
export class McpListQueryDto {
  /** The `next` of the page before. */
  @MayBeLeftOut()
  @IsString()
  cursor?: string;
}

/** A page of what a server lists, in the protocol's own form. */
export class McpPageDto {
  items!: Record<string, unknown>[];
  next!: string | null;
}

/** A prompt that is to be made. */
export class McpPromptDto {
  @IsString()
  @Matches(/\S/u, { message: 'name must not be blank' })
  name!: string;

  @MayBeLeftOut()
  @IsObject()
  @AsItCame()
  arguments?: Record<string, string>;
}
