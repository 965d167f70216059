import type { AssistantMessage } from '../chat/message.types.js';

/** The issuer of Gemini's thought signatures, whichever endpoint serves the model. */
export const SIGNATURE_ISSUER = 'google';
/** Replaces the signature of a call that another model wrote (ai.google.dev/gemini-api/docs/thought-signatures). */
const UNSIGNED = 'skip_thought_signature_validator';

/** The part of a call in which Gemini's compatible endpoint sends and expects a signature. */
export interface SignedCall {
  readonly extra_content?: { readonly google: { readonly thought_signature: string } };
}

/** The signature of a message's call; the first call of a message without signatures has a placeholder. */
export function toSignedCall({ signedReasoning }: AssistantMessage, at: number, model: string): SignedCall {
  const isOwn = signedReasoning?.provider === SIGNATURE_ISSUER && signedReasoning.model === model;
  const block = isOwn ? signedReasoning.blocks.find(({ calls }) => calls === at) : undefined;
  const signature = block?.value['thought_signature'] ?? (at === 0 ? UNSIGNED : undefined);
  return typeof signature === 'string' ? { extra_content: { google: { thought_signature: signature } } } : {};
}
