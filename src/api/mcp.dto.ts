import { IsArray, IsBoolean, IsIn, IsInt, IsObject, IsString, IsUrl, Matches, Max, Min } from 'class-validator';
import type { McpServerStatus } from '../mcp/index.js';
import { RawJson } from './raw-json.decorator.js';
import { Omittable } from './omittable.decorator.js';

/** An MCP server. */
export class McpServerDto {
  name!: string;
  /** Transport: `stdio`, `http`, or `sse` for the HTTP transport of 2024. */
  transport!: 'stdio' | 'http' | 'sse';
  /** Where the server is declared. */
  source!: string;
  status!: McpServerStatus;
  /** Time of the last status change, epoch ms; 0 for a disabled server. */
  since!: number;
  /** Number of successful connections. */
  connects!: number;
  /** Its tools, by their names in Jackdaw. */
  tools!: string[];
  /** Handling of changed definitions and new tools. */
  pins!: 'follow' | 'hold' | 'block';
  /** Handling of suspicious definitions. */
  scan!: 'hide' | 'warn' | 'off';
  /** Number of its tools whose definitions wait for a person: hidden tools, and tools used as accepted. */
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
  /** Whether it hides the tool; otherwise it is a warning. */
  hides!: boolean;
}

/** A difference of two definitions. */
export class McpDifferenceDto {
  /** A JSON pointer into the definition. */
  at!: string;
  /** JSON text, cut after 500 characters; absent if only the other definition has the value. */
  before?: string;
  after?: string;
}

/** A tool's definition as the server gives it. */
export class McpPinnedDto {
  /** SHA-256, hex. */
  digest!: string;
  definition!: Record<string, unknown>;
}

/** A tool whose listed definition, or whose annotations, wait for a person. */
export class McpQuarantineDto {
  /** The tool's name on the server. */
  tool!: string;
  /**
   * `changed` after its acceptance, `new` on a known server, `suspicious`, or `hints`: its definition is in use, but
   * annotations that loosen its handling are not.
   */
  reason!: 'changed' | 'new' | 'suspicious' | 'hints';
  /** Whether models do not receive the tool; otherwise they receive the definition in use. */
  hidden!: boolean;
  findings!: McpFindingDto[];
  /** From the definition in use to the listed one, at most 50. */
  differences!: McpDifferenceDto[];
  /** The annotations that take effect, if they differ from those of the definition in use. */
  hints!: Record<string, unknown> | null;
  /** The definition in use; `null` before the first acceptance. */
  accepted!: McpPinnedDto | null;
  /** The listed definition. */
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
  /** The error of the last connection attempt; still present while the next one runs. */
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

/** Accepts everything of a server that waits, or shows it. */
export class McpAcceptAllDto {
  /** Shows the waiting definitions, and accepts nothing. */
  @Omittable()
  @IsBoolean()
  dryRun?: boolean;

  /** The `digest` of a dry run: 409 if the definitions have changed since. By default the present ones are accepted. */
  @Omittable()
  @Matches(/^[0-9a-f]{64}$/, { message: 'digest must be 64 lower-case hex digits' })
  digest?: string;
}

/** The definitions and annotations of a server that wait, or that were accepted. */
export class McpAcceptedDto {
  /** Whether they were accepted; false in a dry run. */
  accepted!: boolean;
  /** SHA-256 (hex) of these definitions. */
  digest!: string;
  tools!: McpQuarantineDto[];
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
  @IsUrl(
    { protocols: ['http', 'https'], require_protocol: true, require_tld: false },
    { message: 'url must be an http or https URL' },
  )
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

  /** Whether the server's hints about its tools apply; by default `ignore`. */
  @Omittable()
  @IsIn(['believe', 'ignore'])
  hints?: string;

  /** Deprecated: `true` is `hints: "believe"`. */
  @Omittable()
  @IsBoolean()
  trusted?: boolean;

  /** Handling of changed definitions and new tools; default `hold`. */
  @Omittable()
  @IsIn(['follow', 'hold', 'block'])
  pins?: 'follow' | 'hold' | 'block';

  /** Handling of suspicious definitions; default `hide`. */
  @Omittable()
  @IsIn(['hide', 'warn', 'off'])
  scan?: 'hide' | 'warn' | 'off';

  /** Whether results are private data; by default those of a server with credentials. */
  @Omittable()
  @IsBoolean()
  private?: boolean;

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
