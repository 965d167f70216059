import { AppError, type ErrorCode } from '../../errors/index.js';
import { quoteProvider } from './provider-text.mapper.js';
import type { WireAccess } from './wire-access.types.js';
import { ProviderDetails, RefusedParameterError, type StatusError } from './wire-failure.error.js';

/** Codes and types of the error: OpenAI, Groq and gateways; llama.cpp. */
const TOO_LONG_KINDS: readonly (string | undefined)[] = ['context_length_exceeded', 'exceed_context_size_error'];
/**
 * Messages for a request that exceeds the context window: OpenAI, Mistral, DeepSeek, vLLM and OpenRouter ("maximum
 * context length", "context window"); Claude ("prompt is too long: 203741 tokens > 200000 maximum", "exceed context
 * limit"); Gemini ("The input token count (1200000) exceeds the maximum number of tokens allowed"); xAI ("maximum prompt
 * length"); llama.cpp and Ollama ("available context size", "context length"); Moonshot ("exceeded model token limit");
 * GLM ("Prompt 超长"); Qwen ("Range of input length should be").
 */
const TOO_LONG =
  /maximum context length|context window|prompt is too long|exceeds? (?:the )?(?:model's |available )?(?:maximum )?context|input token count.{0,40}exceeds the maximum|maximum prompt length|exceeded model token limit|prompt ?超长|range of input length should be|input is too long/i;

/** Whether an error status means that the request exceeds the context window of the model. */
export function isTooLong({ status, kind, said }: StatusError): boolean {
  if (status !== 400 && status !== 413 && status !== 422) return false;
  return TOO_LONG_KINDS.includes(kind) || TOO_LONG.test(said.slice(0, 2_000));
}

/** Whether the provider refused a request because it exceeds the context window of the model. */
export function isContextExceeded(error: unknown): boolean {
  return error instanceof AppError && error.details?.['context_exceeded'] === true;
}

interface StatusMeaning {
  readonly code: ErrorCode;
  readonly isRetryable: boolean;
  readonly what: string;
  readonly todo: string;
}

/** Maps a provider's error status to an `AppError`. */
export function toStatusError(failure: StatusError, settings: WireAccess): AppError {
  const { provider, model } = settings;
  const meaning = meaningOf(failure, settings);
  const { line: said, details } = quoteProvider(failure.said, settings);
  const what = `The provider ${provider} ${meaning.what} model ${model} (HTTP ${failure.status})`;
  const sentence = said === '' ? `${what}.` : `${what}: ${endSentence(said)}`;
  return new AppError(meaning.code, `${sentence} ${meaning.todo}`, {
    isRetryable: meaning.isRetryable,
    ...(details !== undefined && { cause: new ProviderDetails(details) }),
    details: {
      provider,
      model,
      provider_status: failure.status,
      ...(isTooLong(failure) && { context_exceeded: true }),
      ...(failure.retryAfterMs !== undefined && { retry_after_ms: failure.retryAfterMs }),
    },
  });
}

function meaningOf(failure: StatusError, settings: WireAccess): StatusMeaning {
  const { status } = failure;
  if (status === 401 || status === 403) {
    const todo = settings.keyVariable ? `Check ${settings.keyVariable} and its rights.` : 'Check its API key.';
    return { code: 'MODEL_AUTHENTICATION', isRetryable: false, what: 'refused the API key for', todo };
  }
  if (status === 429) return rateLimit(failure);
  if (status === 408) {
    return { code: 'MODEL_TIMEOUT', isRetryable: true, what: 'timed out on', todo: 'Try again.' };
  }
  if (status >= 500) {
    return { code: 'MODEL_UNAVAILABLE', isRetryable: true, what: 'could not serve', todo: 'Try again later.' };
  }
  if (failure instanceof RefusedParameterError) return refusedParameter(failure);
  return {
    code: 'MODEL_REFUSED',
    isRetryable: false,
    what: 'refused the request to',
    todo: remedyOf(failure, settings),
  };
}

function remedyOf(failure: StatusError, settings: WireAccess): string {
  if (isTooLong(failure)) return 'Shorten the request, or choose a model with a larger context window.';
  const { status } = failure;
  return status === 404 || status < 400
    ? `Check the model's name and the base URL ${addressOf(settings)}, which ends with /v1 for most servers.`
    : 'Check the request and the model that it names.';
}

/** Without the query, which may contain a key. */
function addressOf({ baseUrl }: WireAccess): string {
  const { origin, pathname } = new URL(baseUrl);
  return pathname === '/' ? origin : `${origin}${pathname}`;
}

function refusedParameter({ parameter }: RefusedParameterError): StatusMeaning {
  return {
    code: 'MODEL_REFUSED',
    isRetryable: false,
    what: `refused the parameter ${parameter} for`,
    todo: `Leave ${parameter} out, choose another model, or set LLM_QUIRKS=drop:${parameter}.`,
  };
}

/** OpenAI also returns 429 if the account has no credit; a retry does not help then. */
function rateLimit(failure: StatusError): StatusMeaning {
  const what = 'limits the requests to';
  if (failure.kind === 'insufficient_quota') {
    return { code: 'MODEL_RATE_LIMITED', isRetryable: false, what, todo: "Check the account's quota and billing." };
  }
  const wait = failure.retryAfterMs === undefined ? 'later' : `in ${Math.ceil(failure.retryAfterMs / 1000)} s`;
  return { code: 'MODEL_RATE_LIMITED', isRetryable: true, what, todo: `Try again ${wait}.` };
}

function endSentence(text: string): string {
  return /[.!?…。]$/.test(text) ? text : `${text}.`;
}
