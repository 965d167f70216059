/** An error that a stream reports after its status 200. */
export interface StreamError {
  /** Data of its event, or the line of an event that is not data. */
  readonly event: object | { readonly line: string };
  /** The message that a caller must see. */
  readonly message: string;
  readonly code: 'MODEL_REFUSED' | 'MODEL_RATE_LIMITED' | 'MODEL_UNAVAILABLE' | 'MODEL_BAD_REPLY';
}

const context = 'context is too long';

/** The forms of an error in OpenAI-compatible streams. */
export const STREAM_ERRORS: readonly StreamError[] = [
  // platform.openai.com/docs/guides/error-codes; github.com/BerriAI/litellm/issues/40578
  {
    event: { error: { message: context, type: 'invalid_request_error', param: null, code: 'context_length_exceeded' } },
    message: context,
    code: 'MODEL_REFUSED',
  },
  {
    event: { error: { message: 'slow down', type: 'requests', code: 'rate_limit_exceeded' } },
    message: 'slow down',
    code: 'MODEL_RATE_LIMITED',
  },
  {
    event: { error: { message: 'The server had an error.', type: 'server_error', param: null, code: null } },
    message: 'The server had an error.',
    code: 'MODEL_UNAVAILABLE',
  },
  // openrouter.ai/docs/api/reference/errors-and-debugging, "Mid-stream errors"
  {
    event: {
      id: 'x',
      error: { code: 502, message: 'Provider disconnected', metadata: {} },
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    },
    message: 'Provider disconnected',
    code: 'MODEL_UNAVAILABLE',
  },
  // vLLM
  {
    event: { object: 'error', message: context, type: 'BadRequestError', param: null, code: 400 },
    message: context,
    code: 'MODEL_REFUSED',
  },
  // Mistral: github.com/jordymeow/ai-engine/issues/11
  {
    event: { object: 'error', message: 'no such tier', type: 'tier', param: null, code: '1910', raw_status_code: 400 },
    message: 'no such tier',
    code: 'MODEL_REFUSED',
  },
  // Cerebras: github.com/dcdpr/jp/pull/1079
  {
    event: { message: context, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' },
    message: context,
    code: 'MODEL_REFUSED',
  },
  // Azure's API management: learn.microsoft.com/azure/api-management/api-management-error-handling-policies
  { event: { statusCode: 429, message: 'Rate limit' }, message: 'Rate limit', code: 'MODEL_RATE_LIMITED' },
  // FastAPI: fastapi.tiangolo.com/tutorial/handling-errors
  { event: { detail: 'worker died' }, message: 'worker died', code: 'MODEL_BAD_REPLY' },
  { event: { error: 'out of memory' }, message: 'out of memory', code: 'MODEL_BAD_REPLY' },
  // llama.cpp until 2025: github.com/ggml-org/llama.cpp/pull/16109
  {
    event: { line: `error: ${JSON.stringify({ code: 400, message: context, type: 'invalid_request_error' })}` },
    message: context,
    code: 'MODEL_REFUSED',
  },
];
