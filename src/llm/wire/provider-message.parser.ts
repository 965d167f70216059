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

/** The HTTP status in an error object of a reply with status 200 (OpenRouter and some proxies). */
export function claimedStatus(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, status } = error as { readonly code?: unknown; readonly status?: unknown };
  const claimed = Number(code ?? status);
  return Number.isInteger(claimed) && claimed >= 400 && claimed <= 599 ? claimed : undefined;
}

export function isHtml(text: string): boolean {
  return text.trimStart().startsWith('<');
}
