import { AppError, type ErrorCode, toAppError } from '../errors/index.js';

/** Codes of an `McpError`. */
export const MCP_ERROR_CODES = [
  'TOOL_NOT_FOUND',
  'TOOL_EXECUTION_FAILED',
  'RESOURCE_NOT_FOUND',
  'PROMPT_NOT_FOUND',
  'MODEL_ERROR',
  'NETWORK_ERROR',
  'PERMISSION_DENIED',
  'UNKNOWN_ERROR',
] as const satisfies readonly ErrorCode[];

export type McpErrorCode = (typeof MCP_ERROR_CODES)[number];

/** The codes as an enumeration. */
export const McpErrorType = Object.fromEntries(MCP_ERROR_CODES.map((code) => [code, code])) as {
  readonly [Code in McpErrorCode]: Code;
};

/** An error between Jackdaw and an MCP server. */
export class McpError extends AppError {
  declare readonly code: McpErrorCode;

  /** @param details facts for the client in addition to the message; JSON values only, no secrets */
  constructor(
    code: McpErrorCode,
    message: string,
    details?: Readonly<Record<string, unknown>>,
    options: { readonly cause?: unknown; readonly isRetryable?: boolean } = {},
  ) {
    super(code, message, { ...options, ...(details && { details }) });
    this.name = 'McpError';
  }

  override toString(): string {
    return `[${this.code}] ${this.message}`;
  }
}

/** Maps other codes to the eight codes, by the start of their names. */
const BY_CAUSE: readonly (readonly [RegExp, McpErrorCode])[] = [
  [/^(TOOL_NOT_FOUND|TOOL_DISABLED|TOOL_HELD)$/, 'TOOL_NOT_FOUND'],
  [/^(OUTGOING_REFUSED|FORBIDDEN|UNAUTHENTICATED|TOOL_DENIED)$/, 'PERMISSION_DENIED'],
  [/^(TOOL_|VALIDATION_FAILED)/, 'TOOL_EXECUTION_FAILED'],
  [/^(OUTGOING_|SHUTTING_DOWN)/, 'NETWORK_ERROR'],
  [/^(MODEL_|BUDGET_|OUTPUT_)/, 'MODEL_ERROR'],
];

/** Converts any error to an `McpError`, with the original as its cause; docs/mcp.md has the table. */
export function toMcpError(thrown: unknown): McpError {
  if (thrown instanceof McpError) return thrown;
  const { code, message, details, isRetryable } = toAppError(thrown);
  const same = MCP_ERROR_CODES.find((one) => one === code);
  const known = same ?? BY_CAUSE.find(([pattern]) => pattern.test(code))?.[1] ?? 'UNKNOWN_ERROR';
  const text = code === 'INTERNAL' && thrown instanceof Error ? thrown.message : message;
  return new McpError(known, text, details, { cause: thrown, isRetryable });
}
