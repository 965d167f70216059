import { IsArray, IsBoolean, IsInt, IsObject, IsString, IsUrl, Matches, Max, Min } from 'class-validator';
import type { McpServerStatus } from '../mcp/index.js';
import { RawJson } from './raw-json.decorator.js';
import { Omittable } from './omittable.decorator.js';

/** An MCP server. */
export class McpServerDto {
  name!: string;
  /** Transport: `stdio` or `http`. */
  transport!: 'stdio' | 'http';
  /** Where the server is declared. */
  source!: string;
  status!: McpServerStatus;
  /** Time of the last status change, epoch ms; 0 for a disabled server. */
  since!: number;
  /** Number of successful connections. */
  connects!: number;
  /** Its tools, by their names in Jackdaw. */
  tools!: string[];
  /** Number of its tools in quarantine. */
  quarantined!: number;
}

/** All MCP servers. */
export class McpServerListDto {
  servers!: McpServerDto[];
}

/** A suspicious part of a tool's definition. */
export class McpFindingDto {
  /** A JSON pointer into the definition. */
  at!: string;
  what!: string;
}

/** A tool's definition as the server gives it. */
export class McpPinnedDto {
  /** SHA-256, hex. */
  digest!: string;
  definition!: Record<string, unknown>;
}

/** A tool in quarantine; models do not receive it. */
export class McpQuarantineDto {
  /** The tool's name on the server. */
  tool!: string;
  /** `changed` after its acceptance, or `suspicious` from the start. */
  reason!: 'changed' | 'suspicious';
  findings!: McpFindingDto[];
  /** The accepted definition; `null` before the first acceptance. */
  accepted!: McpPinnedDto | null;
  /** The present definition. */
  pending!: McpPinnedDto;
}

/** A tool that cannot be used. */
export class McpRefusedToolDto {
  /** The tool's name on the server. */
  tool!: string;
  why!: string;
}

/** An MCP server, with details for operators. */
export class McpServerDetailDto extends McpServerDto {
  /** The connection error. */
  error?: string;
  /** Time of the next connection attempt, epoch ms. */
  retry_at?: number;
  /** The negotiated protocol version. */
  protocol?: string;
  /** The server's description of itself. */
  server_info?: Record<string, unknown>;
  /** Number of sessions with a connection of their own. */
  sessions!: number;
  quarantine!: McpQuarantineDto[];
  refused!: McpRefusedToolDto[];
}

/** Accepts a tool with its present definition. */
export class McpAcceptDto {
  /** The tool's name on the server. */
  @IsString()
  @Matches(/\S/u, { message: 'tool must not be blank' })
  tool!: string;

  /** Digest of the reviewed definition. */
  @Matches(/^[0-9a-f]{64}$/, { message: 'digest must be 64 lower-case hex digits' })
  digest!: string;
}

/** An HTTP server to add. Programs cannot be added over REST. */
export class McpNewServerDto {
  @IsString()
  @Matches(/\S/u, { message: 'name must not be blank' })
  name!: string;

  /** URL of its Streamable HTTP endpoint. */
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  url!: string;

  /** Sent with every request. */
  @Omittable()
  @IsObject()
  @RawJson()
  headers?: Record<string, string>;

  /** As in `config/mcp-servers.json`. */
  @Omittable()
  @IsObject()
  @RawJson()
  auth?: Record<string, unknown>;

  /** Maximum duration of one call, in ms. */
  @Omittable()
  @IsInt()
  @Min(1)
  @Max(86_400_000)
  timeoutMs?: number;

  /** Whether Jackdaw trusts the server's hints about the effects of its tools. */
  @Omittable()
  @IsBoolean()
  trusted?: boolean;

  /** Patterns that select tools by name. */
  @Omittable()
  @IsArray()
  @IsString({ each: true })
  @Matches(/\S/u, { each: true, message: 'each of tools must not be blank' })
  tools?: string[];
}

/** Selects a resource. */
export class McpResourceQueryDto {
  @IsString()
  @Matches(/\S/u, { message: 'uri must not be blank' })
  uri!: string;
}

/** Selects a page of a list. */
export class McpListQueryDto {
  /** The `next` of the previous page. */
  @Omittable()
  @IsString()
  cursor?: string;
}

/** A page of a server's list, in the format of the protocol. */
export class McpPageDto {
  items!: Record<string, unknown>[];
  next!: string | null;
}

/** Requests the messages of a prompt. */
export class McpPromptDto {
  @IsString()
  @Matches(/\S/u, { message: 'name must not be blank' })
  name!: string;

  @Omittable()
  @IsObject()
  @RawJson()
  arguments?: Record<string, string>;
}
