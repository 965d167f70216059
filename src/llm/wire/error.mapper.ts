import { AppError, type ErrorCode, Log, toAppError } from '../../errors/index.js';
import { quoteProvider } from './provider-text.mapper.js';
import { toStatusError } from './status-error.mapper.js';
import type { WireAccess } from './wire-access.types.js';
import {
  BadReplyError,
  BrokenReplyError,
  LateConnectionError,
  LateError,
  ProviderDetails,
  SilenceError,
  StatusError,
  UnreachableError,
  type WireFailure,
} from './wire-failure.error.js';

/** undici's message for a tunnel that a proxy does not open. */
const REFUSED_BY_PROXY = /^Proxy response \((\d{3})\)/;

/** Maps any error of a call to an `AppError` with the failure, the model and the remedy. */
export function toModelError(thrown: unknown, settings: WireAccess): AppError {
  if (!isWireFailure(thrown)) return toAppError(thrown);
  if (thrown instanceof StatusError) return toStatusError(thrown, settings);
  const { provider, model } = settings;
  const more = { isRetryable: true, details: { provider, model } };
  if (thrown instanceof BadReplyError) {
    const { line, details } = quoteProvider(thrown.what, settings);
    const message = `${whoIs(settings)} answered with ${line}; try again, or check its base URL.`;
    const cause = details === undefined ? thrown.cause : new ProviderDetails(details);
    return new AppError('MODEL_BAD_REPLY', message, { ...more, cause });
  }
  const [code, message] = describe(thrown, settings);
  return new AppError(code, message, { ...more, cause: thrown.cause });
}

function whoIs({ provider, model }: WireAccess): string {
  return `The provider ${provider} (model ${model})`;
}

function describe(
  failure: Exclude<WireFailure, StatusError | BadReplyError>,
  settings: WireAccess,
): [ErrorCode, string] {
  const who = whoIs(settings);
  if (failure instanceof SilenceError) {
    const variable = failure.hadStarted && settings.idleMs !== undefined ? 'LLM_IDLE_TIMEOUT_MS' : 'LLM_TIMEOUT_MS';
    return ['MODEL_TIMEOUT', `${who} was silent for ${failure.ms} ms; try again, or raise ${variable}.`];
  }
  if (failure instanceof LateError) {
    return ['MODEL_TIMEOUT', `${who} took longer than ${failure.ms} ms; try again, or raise LLM_TOTAL_TIMEOUT_MS.`];
  }
  if (failure instanceof UnreachableError) {
    const where = `at ${new URL(settings.baseUrl).origin} (${reasonOf(failure.cause)})`;
    return ['MODEL_UNREACHABLE', `${who} cannot be reached ${where}; check that it runs, and its base URL.`];
  }
  return ['MODEL_BAD_REPLY', `${who} broke off in the middle of its reply; try again.`];
}

/** Prefers the code of a network error: its message is empty after attempts at several addresses. */
function reasonOf(cause: unknown): string {
  if (cause instanceof LateConnectionError) return 'no connection within LLM_CONNECT_TIMEOUT_MS';
  if (!(cause instanceof Error)) return 'no connection';
  const [, status] = REFUSED_BY_PROXY.exec(cause.message) ?? [];
  if (status !== undefined) return `the proxy of HTTP_PROXY or HTTPS_PROXY answered with ${status}`;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return code ?? (cause.message || cause.name);
}

function isWireFailure(thrown: unknown): thrown is WireFailure {
  return (
    thrown instanceof StatusError ||
    thrown instanceof UnreachableError ||
    thrown instanceof SilenceError ||
    thrown instanceof LateError ||
    thrown instanceof BrokenReplyError ||
    thrown instanceof BadReplyError
  );
}

/** Maps an error of a call. Logs the provider's text if the error has only a part of it. */
export function toReportedError(thrown: unknown, access: WireAccess): AppError {
  const error = toModelError(thrown, access);
  if (error.cause instanceof ProviderDetails) {
    const { provider, model } = access;
    const logger = new Log('ModelProvider');
    logger.warn(`The provider ${provider} (model ${model}) sent details with its error: ${error.cause.message}`);
  }
  return error;
}
