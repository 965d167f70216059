import { z } from 'zod';
import { invalid } from '../client-conversation.js';

const parts = z.array(z.looseObject({ type: z.string() }));
const source = z.looseObject({ type: z.string(), value: z.string(), mimeType: z.string().nullish() });
/** Images before 1.0. */
const binary = z.looseObject({ mimeType: z.string(), data: z.string().nullish(), url: z.string().nullish() });

interface ContentOptions {
  /** The place of the message, for errors. */
  readonly at: string;
  /** Whether images are read; by default, a note takes the place of an image. */
  readonly hasImages: boolean;
}

/**
 * The text and the URLs of images of a message. A note takes the place of other content.
 * @throws AppError `VALIDATION_FAILED` for content that is neither a text nor a list of parts
 */
export function readContent(
  content: unknown,
  { at, hasImages }: ContentOptions,
): { readonly text: string; readonly images: string[] } {
  if (typeof content === 'string') return { text: content, images: [] };
  const parsed = parts.nullish().safeParse(content);
  if (!parsed.success) throw invalid(`${at}.content`, 'must be a text, or a list of parts with a `type`', content);
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of parsed.data ?? []) {
    const url = hasImages ? imageUrl(part) : undefined;
    if (url !== undefined) images.push(url);
    else if (typeof part['text'] === 'string') texts.push(part['text']);
    else texts.push(`[${part.type} left out]`);
  }
  return { text: texts.join('\n'), images };
}

function imageUrl(part: z.output<typeof parts>[number]): string | undefined {
  if (part.type === 'binary') return binaryUrl(part);
  const parsed = source.safeParse(part['source']);
  if (part.type !== 'image' || !parsed.success) return undefined;
  const { type, value, mimeType } = parsed.data;
  if (type === 'url') return value;
  return type === 'data' ? dataUrl(mimeType ?? '', value) : undefined;
}

function binaryUrl(part: unknown): string | undefined {
  const parsed = binary.safeParse(part);
  if (!parsed.success || !parsed.data.mimeType.startsWith('image/')) return undefined;
  const { mimeType, data, url } = parsed.data;
  return typeof data === 'string' ? dataUrl(mimeType, data) : (url ?? undefined);
}

function dataUrl(mimeType: string, data: string): string {
  return data.startsWith('data:') ? data : `data:${mimeType};base64,${data}`;
}
