import { AppError } from '../../errors/index.js';
import type { StatusError } from './wire-failure.error.js';

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
