import type { SignedReasoning } from '../message.types.js';
import { SIGNATURE_ISSUER } from './thought-signature.mapper.js';
import type { WireToolCall } from './wire-reply.types.js';

/**
 * The thought signatures of a reply's calls (Gemini). A call starts with its name; a later fragment may bring its
 * signature.
 */
export class ThoughtSignatureBuilder {
  private readonly signatures: (string | undefined)[] = [];

  add(calls: readonly WireToolCall[]): this {
    for (const call of calls) {
      if (typeof call.function?.name === 'string' && call.function.name !== '') this.signatures.push(undefined);
      const signature = signatureOf(call);
      if (signature !== undefined) this.signatures[Math.max(0, this.signatures.length - 1)] = signature;
    }
    return this;
  }

  /** @param model the requested one: a signature is valid for one model only */
  result(model: string, content: string): SignedReasoning | undefined {
    const blocks = this.signatures.flatMap((signature, calls) =>
      signature === undefined ? [] : [{ value: { thought_signature: signature }, text: content.length, calls }],
    );
    return blocks.length === 0 ? undefined : { provider: SIGNATURE_ISSUER, model, blocks };
  }
}

function signatureOf({ extra_content: extra }: WireToolCall): string | undefined {
  const signature = extra?.google?.thought_signature;
  return typeof signature === 'string' && signature !== '' ? signature : undefined;
}
