/** The message of a provider's error object; '' if it has no readable one. */
export function providerMessage(error: unknown): string {
  if (typeof error === 'string') return isHtml(error) ? '' : error;
  if (typeof error !== 'object' || error === null) return '';
  const { message, detail } = error as { readonly message?: unknown; readonly detail?: unknown };
  if (typeof message === 'string') return message;
  if (typeof detail === 'string') return detail;
  return JSON.stringify(message ?? detail ?? error);
}

/** The provider's error code: in `code` for OpenAI, only in `type` for others. */
export function providerKind(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, type } = error as { readonly code?: unknown; readonly type?: unknown };
  if (typeof code === 'string') return code;
  return typeof type === 'string' ? type : undefined;
}

/** The path of the field that an error concerns: `param` of OpenAI. */
export function providerParam(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { param } = error as { readonly param?: unknown };
  return typeof param === 'string' && param !== '' ? param : undefined;
}

/** Codes of a response that failed, all about its request (the types of the package `openai`, `ResponseError`). */
const REQUEST_CODES =
  'invalid_prompt data_residency_mismatch bio_policy misalignment_policy_violation invalid_image invalid_image_format invalid_base64_image invalid_image_url image_too_large image_too_small image_parse_error image_content_policy_violation invalid_image_mode image_file_too_large unsupported_image_media_type empty_image_file failed_to_download_image image_file_not_found'.split(
    ' ',
  );

/**
 * HTTP statuses of error types and codes, which a stream reports after its status 200 (platform.claude.com, "Errors";
 * platform.openai.com, "Error codes"; names of exceptions in vLLM).
 */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['context_length_exceeded', 400],
  ['exceed_context_size_error', 400],
  ['BadRequestError', 400],
  ['authentication_error', 401],
  ['invalid_api_key', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['NotFoundError', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['insufficient_quota', 429],
  ['api_error', 500],
  ['server_error', 500],
  ['InternalServerError', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
  ...REQUEST_CODES.map((code) => [code, 400] as const),
]);

/** Members of an error object that may have the HTTP status: OpenRouter, vLLM, gateways, Mistral. */
const STATUS_MEMBERS = ['code', 'status', 'status_code', 'statusCode', 'raw_status_code'] as const;

/** The HTTP status of an error object in a reply with status 200; undefined if it names none. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const members = error as Readonly<Record<string, unknown>>;
  const claimed = STATUS_MEMBERS.map((name) => Number(members[name] ?? NaN));
  const status = claimed.find((code) => Number.isInteger(code) && code >= 400 && code <= 599);
  return status ?? STATUSES.get(members['code']) ?? STATUSES.get(members['type']);
}

export function isHtml(text: string): boolean {
  return text.trimStart().startsWith('<');
}
