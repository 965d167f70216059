import { describe, expect, it } from 'vitest';
import { AppError, type ErrorCode } from '../errors/index.js';
import { McpError, McpErrorType, toMcpError } from './mcp.error.js';

describe('toMcpError', () => {
  it.each<[keyof typeof McpErrorType, ErrorCode]>([
    ['TOOL_NOT_FOUND', 'TOOL_DISABLED'],
    ['TOOL_EXECUTION_FAILED', 'TOOL_FAILED'],
    ['TOOL_EXECUTION_FAILED', 'VALIDATION_FAILED'],
    ['RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
    ['PROMPT_NOT_FOUND', 'PROMPT_NOT_FOUND'],
    ['MODEL_ERROR', 'MODEL_TIMEOUT'],
    ['MODEL_ERROR', 'BUDGET_EXCEEDED'],
    ['NETWORK_ERROR', 'OUTGOING_TIMEOUT'],
    ['PERMISSION_DENIED', 'FORBIDDEN'],
    ['UNKNOWN_ERROR', 'JOURNAL_UNAVAILABLE'],
  ])('returns %s for the code %s', (type, code) => {
    const cause = new AppError(code, 'It failed.', { details: { at: 1 }, isRetryable: true });
    const error = toMcpError(cause);
    expect(error).toMatchObject({ code: McpErrorType[type], message: 'It failed.', details: { at: 1 }, cause });
    expect([error.isRetryable, String(error)]).toEqual([true, `[${type}] It failed.`]);
  });

  it('returns UNKNOWN_ERROR for an error of another kind, and an McpError unchanged', () => {
    expect(toMcpError(new RangeError('odd'))).toMatchObject({ code: 'UNKNOWN_ERROR', message: 'odd' });
    const known = new McpError('NETWORK_ERROR', 'lost');
    expect(toMcpError(known)).toBe(known);
  });
});
